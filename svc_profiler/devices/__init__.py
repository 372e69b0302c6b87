"""What a profile can be made on."""
