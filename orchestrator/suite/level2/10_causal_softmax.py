"""A softmax in which no position sees a later one."""

import torch

FAMILY = "softmax"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x.masked_fill(torch.ones_like(x, dtype=torch.bool).triu(1), float("-inf")), dim=-1)


def get_inputs(batch=8, length=256, dtype=torch.float32):
    return [torch.randn(batch, length, length, dtype=dtype)]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 1, "float32"),
        (2, 5, "float32"),
        (1, 64, "float32"),
        (3, 33, "float32"),
        (2, 100, "float32"),
        (4, 17, "float32"),
        (2, 65, "float16"),
        (1, 128, "float16"),
        (3, 31, "bfloat16"),
        (2, 64, "bfloat16"),
    ]
    performance = [(16, 512, "float32"), (32, 512, "float16"), (8, 777, "bfloat16")]
    return [
        {
            "id": f"{batch}x{length}-{dtype}",
            "kind": kind,
            "batch": batch,
            "length": length,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, length, dtype in shapes
    ]
