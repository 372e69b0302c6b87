"""Adds a residual and normalises by root mean square; returns both."""

import torch


class Model(torch.nn.Module):
    def __init__(self, width=64, eps=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x, residual):
        total = x + residual
        wide = total.float()
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (scaled * self.weight.float()).to(x.dtype), total


def get_inputs(rows=4, width=64, dtype=torch.float32):
    return [torch.randn(rows, width, dtype=dtype), torch.randn(rows, width, dtype=dtype)]


def get_init_inputs(width=64):
    return [width, 1e-6]


def get_cases():
    return [
        {"id": f"{r}x{w}-{t}".replace("torch.", ""), "rows": r, "width": w, "dtype": t}
        for t in (torch.float32, torch.float16, torch.bfloat16)
        for r, w in [(1, 2), (6, 130), (3, 1024)]
    ]
