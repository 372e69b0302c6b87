"""A convolution, a batch norm with fixed statistics, a residual and a ReLU."""

import torch

FAMILY = "convolution"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(channels).eval()

    def forward(self, x):
        return torch.relu(x + self.norm(self.conv(x)))


def get_inputs(batch=8, channels=32, height=64, width=64, dtype=torch.float32):
    return [torch.randn(batch, channels, height, width, dtype=dtype)]


def get_init_inputs(channels=32):
    return [channels]


def get_cases():
    correctness = [
        (1, 1, 3, 3, "float32"),
        (2, 3, 7, 9, "float32"),
        (1, 4, 12, 12, "float32"),
        (2, 5, 11, 13, "float32"),
        (1, 8, 16, 10, "float32"),
        (1, 2, 20, 21, "float32"),
        (3, 3, 6, 8, "float32"),
        (1, 3, 9, 9, "float16"),
        (2, 4, 10, 7, "float16"),
        (1, 6, 8, 11, "bfloat16"),
    ]
    performance = [(8, 32, 56, 56, "float32"), (4, 64, 56, 56, "float16"), (8, 48, 28, 28, "bfloat16")]
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
