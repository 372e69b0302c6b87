"""Triton from TorchInductor, offline: the task's graph is lowered for a gfx942 that is not there, and what Inductor
generates is rewritten as a module that stands alone."""
