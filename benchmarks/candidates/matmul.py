"""The product of two matrices."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs(m=32, k=32, n=32):
    return [torch.randn(m, k), torch.randn(k, n)]


def get_cases():
    return [
        {"id": f"{m}x{k}x{n}", "m": m, "k": k, "n": n}
        for m, k, n in ((1, 1, 1), (7, 33, 5), (16, 16, 16), (32, 48, 40), (65, 31, 50))
    ]
