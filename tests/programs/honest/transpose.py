"""A matrix transposed."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.t().contiguous()


def get_inputs(rows=70, cols=45, dtype=torch.float32):
    return [torch.randn(rows, cols, dtype=dtype)]


def get_cases():
    return [
        {"id": f"{r}x{c}-{t}".replace("torch.", ""), "rows": r, "cols": c, "dtype": t}
        for t in (torch.float32, torch.float16)
        for r, c in [(1, 1), (33, 65), (64, 32), (100, 7)]
    ]
