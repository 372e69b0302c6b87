"""Scaled scores get an additive mask, then a softmax."""

import torch

FAMILY = "softmax"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, mask):
        return torch.softmax(scores * self.scale + mask, dim=-1)


def get_inputs(batch=8, queries=256, keys=256, dtype=torch.float32):
    return [torch.randn(batch, queries, keys, dtype=dtype), torch.randn(queries, keys, dtype=dtype)]


def get_init_inputs(scale=0.125):
    return [scale]


def get_cases():
    correctness = [
        (1, 1, 1, 1.0, "float32"),
        (2, 3, 5, 0.5, "float32"),
        (1, 64, 33, 0.125, "float32"),
        (3, 17, 64, 0.25, "float32"),
        (4, 32, 100, 0.125, "float32"),
        (2, 65, 129, 0.3, "float32"),
        (2, 7, 33, 0.125, "float16"),
        (1, 64, 128, 0.25, "float16"),
        (3, 5, 31, 0.5, "bfloat16"),
        (2, 40, 64, 0.125, "bfloat16"),
    ]
    performance = [(16, 512, 512, 0.125, "float32"), (32, 512, 512, 0.125, "float16"), (8, 777, 1000, 0.1, "bfloat16")]
    return [
        {
            "id": f"{batch}x{queries}x{keys}x{scale}-{dtype}",
            "kind": kind,
            "batch": batch,
            "queries": queries,
            "keys": keys,
            "scale": scale,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, queries, keys, scale, dtype in shapes
    ]
