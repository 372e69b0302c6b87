"""A conversion to float16, as mixed precision makes all the time."""

import torch

FAMILY = "cast"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, x):
        return x.to(torch.float16)


def get_inputs(size=1048576, dtype=torch.float32):
    return [torch.randn(size, dtype=dtype)]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, "float32"),
        (63, "float32"),
        (64, "float32"),
        (257, "float32"),
        (1000, "float32"),
        (4096, "float32"),
        (20011, "float32"),
        (129, "bfloat16"),
        (8192, "bfloat16"),
        (63, "bfloat16"),
        (1000, "bfloat16"),
    ]
    performance = [(4194304, "float32"), (8388608, "bfloat16"), (5000011, "float32")]
    return [
        {"id": f"{size}-{dtype}", "kind": kind, "size": size, "dtype": getattr(torch, dtype)}
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for size, dtype in shapes
    ]
