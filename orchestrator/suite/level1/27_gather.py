"""One value is picked from each row for each index."""

import torch

FAMILY = "gather"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, x, index):
        return torch.gather(x, 1, index)


def get_inputs(rows=1024, cols=1024, picks=64, dtype=torch.float32):
    return [torch.randn(rows, cols, dtype=dtype), torch.randint(0, cols, (rows, picks))]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 2, 1, "float32"),
        (3, 7, 5, "float32"),
        (16, 64, 32, "float32"),
        (65, 100, 3, "float32"),
        (9, 33, 70, "float32"),
        (2, 1000, 513, "float32"),
        (5, 17, 9, "float16"),
        (32, 64, 128, "float16"),
        (11, 31, 6, "bfloat16"),
        (16, 96, 64, "bfloat16"),
    ]
    performance = [(4096, 1024, 512, "float32"), (2048, 2048, 1024, "float16"), (1024, 3001, 999, "bfloat16")]
    return [
        {
            "id": f"{rows}x{cols}x{picks}-{dtype}",
            "kind": kind,
            "rows": rows,
            "cols": cols,
            "picks": picks,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for rows, cols, picks, dtype in shapes
    ]
