"""InfoNCE: each row of one view should be most alike its partner in the other."""

import torch

FAMILY = "loss"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, a, b):
        a = torch.nn.functional.normalize(a, dim=-1)
        b = torch.nn.functional.normalize(b, dim=-1)
        scores = torch.matmul(a, b.t()) / 0.07
        return -torch.log_softmax(scores, dim=-1).diagonal().mean()


def get_inputs(rows=1024, cols=1024, dtype=torch.float32):
    return [torch.randn(rows, cols, dtype=dtype), torch.randn(rows, cols, dtype=dtype)]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 1, "float32"),
        (2, 7, "float32"),
        (7, 33, "float32"),
        (16, 64, "float32"),
        (33, 100, "float32"),
        (65, 30, "float32"),
        (50, 128, "float32"),
        (9, 33, "float16"),
        (32, 64, "float16"),
        (11, 40, "bfloat16"),
    ]
    performance = [(512, 256, "float32"), (1024, 512, "float16"), (777, 300, "bfloat16")]
    return [
        {"id": f"{rows}x{cols}-{dtype}", "kind": kind, "rows": rows, "cols": cols, "dtype": getattr(torch, dtype)}
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for rows, cols, dtype in shapes
    ]
