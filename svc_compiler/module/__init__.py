"""Python modules that build HIP kernels with `torch.utils.cpp_extension`: capture in Python, recording below it."""
