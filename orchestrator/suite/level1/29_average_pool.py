"""The mean of each 2 x 2 window."""

import torch

FAMILY = "pooling"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.avg_pool2d(x, kernel_size=2)


def get_inputs(batch=8, channels=32, height=64, width=64, dtype=torch.float32):
    return [torch.randn(batch, channels, height, width, dtype=dtype)]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 1, 2, 2, "float32"),
        (2, 3, 7, 9, "float32"),
        (1, 8, 16, 16, "float32"),
        (3, 5, 11, 13, "float32"),
        (2, 16, 32, 20, "float32"),
        (1, 4, 33, 65, "float32"),
        (4, 2, 8, 6, "float32"),
        (2, 3, 15, 17, "float16"),
        (1, 8, 16, 32, "float16"),
        (2, 5, 9, 21, "bfloat16"),
    ]
    performance = [(8, 64, 112, 112, "float32"), (16, 64, 56, 56, "float16"), (8, 96, 75, 75, "bfloat16")]
    return [
        {
            "id": f"{batch}x{channels}x{height}x{width}-{dtype}",
            "kind": kind,
            "batch": batch,
            "channels": channels,
            "height": height,
            "width": width,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, channels, height, width, dtype in shapes
    ]
