"""What lies between a launch plan and a verdict: cases, references, the CPU model, comparison."""
