"""Triton candidates: capture of what their host code does, and compilation of their kernels for AMD."""
