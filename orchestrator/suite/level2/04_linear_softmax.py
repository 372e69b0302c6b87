"""A linear layer and a softmax: a classifier's head."""

import torch

FAMILY = "linear"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, k, n):
        super().__init__()
        self.linear = torch.nn.Linear(k, n)

    def forward(self, x):
        return torch.softmax(self.linear(x), dim=-1)


def get_inputs(m=1024, k=1024, dtype=torch.float32):
    return [torch.randn(m, k, dtype=dtype)]


def get_init_inputs(k=1024, n=1024):
    return [k, n]


def get_cases():
    correctness = [
        (1, 1, 1, "float32"),
        (1, 64, 1, "float32"),
        (7, 33, 5, "float32"),
        (16, 16, 16, "float32"),
        (64, 64, 64, "float32"),
        (65, 129, 33, "float32"),
        (100, 17, 70, "float32"),
        (33, 65, 31, "float16"),
        (64, 128, 64, "float16"),
        (17, 40, 50, "bfloat16"),
        (64, 96, 80, "bfloat16"),
    ]
    performance = [(1024, 1024, 1024, "float32"), (2048, 1024, 2048, "float16"), (1000, 3000, 777, "bfloat16")]
    return [
        {"id": f"{m}x{k}x{n}-{dtype}", "kind": kind, "m": m, "k": k, "n": n, "dtype": getattr(torch, dtype)}
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for m, k, n, dtype in shapes
    ]
