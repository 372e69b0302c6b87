"""What the commands do: each module is imported by the commands that need it."""
