"""The mean over a dimension in the middle."""

import torch

FAMILY = "reduction"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, x):
        return x.mean(dim=1)


def get_inputs(batch=8, channels=64, length=1024, dtype=torch.float32):
    return [torch.randn(batch, channels, length, dtype=dtype)]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 1, 1, "float32"),
        (2, 3, 5, "float32"),
        (1, 64, 33, "float32"),
        (3, 17, 64, "float32"),
        (4, 32, 100, "float32"),
        (2, 130, 65, "float32"),
        (2, 7, 33, "float16"),
        (1, 64, 128, "float16"),
        (3, 5, 31, "bfloat16"),
        (2, 40, 64, "bfloat16"),
    ]
    performance = [(16, 128, 2048, "float32"), (8, 512, 1024, "float16"), (32, 64, 2048, "bfloat16")]
    return [
        {
            "id": f"{batch}x{channels}x{length}-{dtype}",
            "kind": kind,
            "batch": batch,
            "channels": channels,
            "length": length,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, channels, length, dtype in shapes
    ]
