"""Channels are weighed by a small network that sees their means."""

import torch

FAMILY = "convolution"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.reduce = torch.nn.Linear(channels, squeezed)
        self.expand = torch.nn.Linear(squeezed, channels)

    def forward(self, x):
        weights = torch.relu(self.reduce(x.mean(dim=(2, 3))))
        return x * torch.sigmoid(self.expand(weights))[:, :, None, None]


def get_inputs(batch=8, channels=64, height=56, width=56, dtype=torch.float32):
    return [torch.randn(batch, channels, height, width, dtype=dtype)]


def get_init_inputs(channels=64, squeezed=16):
    return [channels, squeezed]


def get_cases():
    correctness = [
        (1, 1, 1, 2, 2, "float32"),
        (2, 3, 2, 7, 9, "float32"),
        (1, 8, 4, 16, 16, "float32"),
        (3, 5, 2, 11, 13, "float32"),
        (2, 16, 8, 32, 20, "float32"),
        (1, 4, 2, 33, 65, "float32"),
        (4, 2, 1, 8, 6, "float32"),
        (2, 3, 2, 15, 17, "float16"),
        (1, 8, 4, 16, 32, "float16"),
        (2, 5, 3, 9, 21, "bfloat16"),
    ]
    performance = [(8, 64, 16, 112, 112, "float32"), (16, 64, 16, 56, 56, "float16"), (8, 96, 24, 75, 75, "bfloat16")]
    return [
        {
            "id": f"{batch}x{channels}x{squeezed}x{height}x{width}-{dtype}",
            "kind": kind,
            "batch": batch,
            "channels": channels,
            "squeezed": squeezed,
            "height": height,
            "width": width,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, channels, squeezed, height, width, dtype in shapes
    ]
