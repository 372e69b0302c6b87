"""What a model is asked: `assemble.kernel` and `assemble.functional` make the messages."""
