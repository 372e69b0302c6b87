"""Where the greatest value of each row stands."""

import torch

FAMILY = "reduction"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=-1)


def get_inputs(rows=1024, cols=1024, dtype=torch.float32):
    return [torch.randn(rows, cols, dtype=dtype)]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 1, "float32"),
        (1, 7, "float32"),
        (3, 64, "float32"),
        (7, 33, "float32"),
        (16, 256, "float32"),
        (5, 1000, "float32"),
        (65, 130, "float32"),
        (31, 77, "float32"),
        (2, 513, "float32"),
        (12, 12, "float32"),
    ]
    performance = [(4096, 1024, "float32"), (512, 8192, "float32"), (1024, 4096, "float32")]
    return [
        {
            "id": f"{rows}x{cols}-{dtype}",
            "kind": kind,
            "rows": rows,
            "cols": cols,
            "dtype": getattr(torch, dtype),
            "distributions": ["normal", "uniform", "large", "tiny"],
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for rows, cols, dtype in shapes
    ]
