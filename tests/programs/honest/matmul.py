"""A matrix product."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs(m=64, n=64, k=64, dtype=torch.float32):
    return [torch.randn(m, k, dtype=dtype), torch.randn(k, n, dtype=dtype)]


def get_cases():
    return [
        {"id": f"{m}x{n}x{k}-{t}".replace("torch.", ""), "m": m, "n": n, "k": k, "dtype": t}
        for t in (torch.float32, torch.float16, torch.bfloat16)
        for m, n, k in [(1, 1, 1), (33, 70, 17), (64, 64, 64), (20, 130, 97), (3, 5, 2001)]
    ]
