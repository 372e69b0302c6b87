"""The sum of all elements."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum()


def get_inputs(n=5000):
    return [torch.rand(n)]


def get_cases():
    return [{"id": f"n{n}", "n": n} for n in (1, 31, 255, 1025, 10_007)]
