"""Triton kernels as data (`TritonProgram`): reading, checking, making functions of them, running them on a CPU."""
