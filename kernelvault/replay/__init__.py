"""Everything between a launch plan and a verdict that compiler and profiler share: cases, references, the CPU model, comparison."""
