"""Rotary position embedding, the halves rotated."""

import torch


class Model(torch.nn.Module):
    def forward(self, x, cos, sin):
        half = x.shape[-1] // 2
        rotated = torch.cat([-x[..., half:], x[..., :half]], -1)
        return x * cos[:, None] + rotated * sin[:, None]


def get_inputs(length=8, heads=2, width=16, dtype=torch.float32):
    return [
        torch.randn(length, heads, width, dtype=dtype),
        torch.randn(length, width, dtype=dtype),
        torch.randn(length, width, dtype=dtype),
    ]


def get_cases():
    return [
        {"id": f"{n}x{h}x{d}-{t}".replace("torch.", ""), "length": n, "heads": h, "width": d, "dtype": t}
        for t in (torch.float32, torch.float16, torch.bfloat16)
        for n, h, d in [(1, 1, 2), (5, 3, 24), (17, 2, 64)]
    ]
