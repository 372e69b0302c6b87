"""Runs Triton kernels on numpy: Triton's own semantics, arithmetic of a GPU, each access to memory checked."""
