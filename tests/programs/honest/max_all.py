"""The largest of all elements, by dtype."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.max()


def get_inputs(n=3000):
    return [torch.randn(n)]


def get_cases():
    return [{"id": f"n{n}", "n": n} for n in (1, 65, 3001)]
