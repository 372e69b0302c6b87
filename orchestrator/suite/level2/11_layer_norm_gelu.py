"""A layer norm and a GELU."""

import torch

FAMILY = "norm"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.norm = torch.nn.LayerNorm(cols)

    def forward(self, x):
        return torch.nn.functional.gelu(self.norm(x), approximate="tanh")


def get_inputs(rows=1024, cols=1024, dtype=torch.float32):
    return [torch.randn(rows, cols, dtype=dtype)]


def get_init_inputs(cols=1024):
    return [cols]


def get_cases():
    correctness = [
        (1, 1, "float32"),
        (1, 7, "float32"),
        (3, 64, "float32"),
        (7, 33, "float32"),
        (16, 256, "float32"),
        (5, 1000, "float32"),
        (65, 130, "float32"),
        (7, 33, "float16"),
        (16, 128, "float16"),
        (9, 100, "bfloat16"),
        (32, 64, "bfloat16"),
    ]
    performance = [(4096, 1024, "float32"), (2048, 4096, "float16"), (1024, 8192, "bfloat16")]
    return [
        {"id": f"{rows}x{cols}-{dtype}", "kind": kind, "rows": rows, "cols": cols, "dtype": getattr(torch, dtype)}
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for rows, cols, dtype in shapes
    ]
