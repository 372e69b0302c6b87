"""Sums of rows in float32."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.float().sum(-1)


def get_inputs(rows=3, cols=256, dtype=torch.float32):
    return [torch.randn(rows, cols, dtype=dtype)]


def get_cases():
    return [
        {"id": f"{r}x{c}-{t}".replace("torch.", ""), "rows": r, "cols": c, "dtype": t}
        for t in (torch.float32, torch.float16)
        for r, c in [(1, 1), (5, 129), (3, 1024)]
    ]
