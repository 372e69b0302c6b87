"""How often each of 64 values occurs."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.bincount(x.long(), minlength=64)


def get_inputs(n=3000):
    return [torch.randint(0, 64, (n,), dtype=torch.int32)]


def get_cases():
    return [{"id": f"n{n}", "n": n} for n in (1, 63, 1000, 3000, 5001)]
