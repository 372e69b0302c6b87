"""torch's layer norm with weight and bias."""

import torch


class Model(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = torch.nn.LayerNorm(columns)

    def forward(self, x):
        return self.norm(x)


def get_inputs(rows=8, columns=1000):
    return [torch.randn(rows, columns)]


def get_init_inputs(columns=1000):
    return [columns]


def get_cases():
    return [{"id": f"n{n}", "columns": n} for n in (1, 63, 256, 1000, 2050)]
