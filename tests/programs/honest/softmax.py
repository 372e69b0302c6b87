"""Softmax over the last dimension."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs(rows=33, cols=1000, dtype=torch.float32):
    return [torch.randn(rows, cols, dtype=dtype) * 3]


def get_cases():
    shapes = [(1, 1), (5, 63), (3, 257), (2, 1500)]
    types = [torch.float32, torch.float16, torch.bfloat16]
    return [
        {"id": f"{r}x{c}-{t}".replace("torch.", ""), "rows": r, "cols": c, "dtype": t} for t in types for r, c in shapes
    ]
