"""alpha * x + y, alpha a number."""

import torch


class Model(torch.nn.Module):
    def __init__(self, alpha=1.5):
        super().__init__()
        self.alpha = alpha

    def forward(self, x, y):
        return self.alpha * x + y


def get_inputs(n=1000, dtype=torch.float32):
    return [torch.randn(n, dtype=dtype), torch.randn(n, dtype=dtype)]


def get_init_inputs():
    return [1.5]


def get_cases():
    return [
        {"id": f"n{n}-{t}".replace("torch.", ""), "n": n, "dtype": t}
        for t in (torch.float32, torch.float16, torch.bfloat16, torch.float64)
        for n in (1, 7, 1025)
    ]
