"""Adds two vectors."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b


def get_inputs(n=100_000):
    return [torch.randn(n), torch.randn(n)]


def get_init_inputs():
    return []


def get_cases():
    return [
        {"id": "one", "n": 1},
        {"id": "odd", "n": 1021},
        {"id": "blocks", "n": 4096},
        {"id": "large", "kind": "performance", "n": 16 << 20},
    ]
