"""The sum of two vectors."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b


def get_inputs(n=1000):
    return [torch.randn(n), torch.randn(n)]


def get_cases():
    return [{"id": f"n{n}", "n": n} for n in (1, 63, 1000, 4096, 10007)]
