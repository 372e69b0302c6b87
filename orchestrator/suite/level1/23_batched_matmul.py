"""The products of two batches of matrices, the second one transposed."""

import torch

FAMILY = "matmul"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b.transpose(1, 2))


def get_inputs(batch=16, m=1024, k=1024, n=1024, dtype=torch.float32):
    return [torch.randn(batch, m, k, dtype=dtype), torch.randn(batch, n, k, dtype=dtype)]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 1, 1, 1, "float32"),
        (2, 7, 33, 5, "float32"),
        (3, 16, 16, 16, "float32"),
        (4, 32, 64, 32, "float32"),
        (5, 65, 17, 33, "float32"),
        (1, 64, 64, 64, "float32"),
        (7, 10, 20, 30, "float32"),
        (2, 33, 20, 17, "float16"),
        (3, 32, 64, 32, "float16"),
        (2, 31, 40, 9, "bfloat16"),
        (4, 16, 48, 64, "bfloat16"),
    ]
    performance = [(16, 512, 128, 512, "float32"), (32, 512, 64, 512, "float16"), (12, 500, 96, 333, "bfloat16")]
    return [
        {
            "id": f"{batch}x{m}x{k}x{n}-{dtype}",
            "kind": kind,
            "batch": batch,
            "m": m,
            "k": k,
            "n": n,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, m, k, n, dtype in shapes
    ]
