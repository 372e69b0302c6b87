"""torch's fused attention."""

import torch

FAMILY = "attention"
SOURCE = "torch 2.13, torch.nn.functional.scaled_dot_product_attention"
LICENSE = "BSD-3-Clause"


class Model(torch.nn.Module):
    def forward(self, query, key, value):
        return torch.nn.functional.scaled_dot_product_attention(query, key, value)


def get_inputs(batch=4, heads=16, length=512, width=64, dtype=torch.float32):
    return [
        torch.randn(batch, heads, length, width, dtype=dtype),
        torch.randn(batch, heads, length, width, dtype=dtype),
        torch.randn(batch, heads, length, width, dtype=dtype),
    ]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 1, 1, 1, "float32"),
        (2, 2, 5, 8, "float32"),
        (1, 4, 33, 16, "float32"),
        (2, 2, 7, 64, "float32"),
        (1, 3, 17, 32, "float32"),
        (3, 2, 20, 10, "float32"),
        (2, 3, 9, 20, "float32"),
        (1, 2, 31, 16, "float16"),
        (2, 4, 16, 32, "float16"),
        (1, 2, 13, 24, "bfloat16"),
        (2, 2, 10, 32, "bfloat16"),
    ]
    performance = [(4, 8, 256, 64, "float32"), (4, 8, 512, 64, "float16"), (2, 8, 333, 96, "bfloat16")]
    return [
        {
            "id": f"{batch}x{heads}x{length}x{width}-{dtype}",
            "kind": kind,
            "batch": batch,
            "heads": heads,
            "length": length,
            "width": width,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, heads, length, width, dtype in shapes
    ]
