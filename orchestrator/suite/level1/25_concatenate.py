"""Two matrices side by side."""

import torch

FAMILY = "layout"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.cat([a, b], dim=1)


def get_inputs(rows=1024, left=512, right=256, dtype=torch.float32):
    return [torch.randn(rows, left, dtype=dtype), torch.randn(rows, right, dtype=dtype)]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 1, 2, "float32"),
        (3, 7, 33, "float32"),
        (16, 64, 32, "float32"),
        (65, 3, 100, "float32"),
        (9, 200, 1, "float32"),
        (2, 1000, 513, "float32"),
        (5, 17, 40, "float16"),
        (32, 64, 128, "float16"),
        (11, 31, 5, "bfloat16"),
        (16, 96, 64, "bfloat16"),
    ]
    performance = [(4096, 512, 256, "float32"), (2048, 2048, 1024, "float16"), (1024, 3001, 999, "bfloat16")]
    return [
        {
            "id": f"{rows}x{left}x{right}-{dtype}",
            "kind": kind,
            "rows": rows,
            "left": left,
            "right": right,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for rows, left, right, dtype in shapes
    ]
