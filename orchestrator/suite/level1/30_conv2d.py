"""A 3 x 3 convolution with padding."""

import torch

FAMILY = "convolution"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, filters, kernel_size=3, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs(batch=8, channels=32, height=56, width=56, dtype=torch.float32):
    return [torch.randn(batch, channels, height, width, dtype=dtype)]


def get_init_inputs(channels=32, filters=64):
    return [channels, filters]


def get_cases():
    correctness = [
        (1, 1, 1, 3, 3, "float32"),
        (2, 3, 4, 7, 9, "float32"),
        (1, 4, 8, 12, 12, "float32"),
        (2, 5, 3, 11, 13, "float32"),
        (1, 8, 16, 16, 10, "float32"),
        (1, 2, 7, 20, 21, "float32"),
        (3, 3, 5, 6, 8, "float32"),
        (1, 3, 4, 9, 9, "float16"),
        (2, 4, 6, 10, 7, "float16"),
        (1, 6, 4, 8, 11, "bfloat16"),
    ]
    performance = [(8, 32, 64, 56, 56, "float32"), (4, 64, 64, 56, 56, "float16"), (8, 48, 96, 28, 28, "bfloat16")]
    return [
        {
            "id": f"{batch}x{channels}x{filters}x{height}x{width}-{dtype}",
            "kind": kind,
            "batch": batch,
            "channels": channels,
            "filters": filters,
            "height": height,
            "width": width,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, channels, filters, height, width, dtype in shapes
    ]
