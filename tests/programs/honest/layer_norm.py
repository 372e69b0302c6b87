"""Layer norm with weight and bias."""

import torch


class Model(torch.nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x)


def get_inputs(rows=9, width=96, dtype=torch.float32):
    return [torch.randn(rows, width, dtype=dtype) + 0.5]


def get_init_inputs(width=96):
    return [width]


def get_cases():
    types = [torch.float32, torch.float16, torch.bfloat16]
    return [
        {"id": f"{r}x{w}-{t}".replace("torch.", ""), "rows": r, "width": w, "dtype": t}
        for t in types
        for r, w in [(1, 8), (7, 72), (5, 1032)]
    ]
