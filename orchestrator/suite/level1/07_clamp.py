"""Values are held between two bounds, which are scalars of the task."""

import torch

FAMILY = "elementwise"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x):
        return torch.clamp(x, self.low, self.high)


def get_inputs(size=1048576, dtype=torch.float32):
    return [torch.randn(size, dtype=dtype)]


def get_init_inputs(low=-1.0, high=0.5):
    return [low, high]


def get_cases():
    correctness = [
        (1, -1.0, 0.5, "float32"),
        (63, -0.25, 0.75, "float32"),
        (1000, -2.0, 1.5, "float32"),
        (4096, 0.0, 6.0, "float32"),
        (20011, -1.0, 1.0, "float32"),
        (257, -0.5, 0.5, "float16"),
        (8192, 0.0, 6.0, "float16"),
        (129, -1.0, 1.0, "bfloat16"),
        (640, -3.0, 0.125, "bfloat16"),
        (77, 0.25, 2.0, "float32"),
    ]
    performance = [(4194304, -1.0, 1.0, "float32"), (8388608, 0.0, 6.0, "float16"), (5000011, -0.5, 0.5, "bfloat16")]
    return [
        {
            "id": f"{size}x{low}x{high}-{dtype}",
            "kind": kind,
            "size": size,
            "low": low,
            "high": high,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for size, low, high, dtype in shapes
    ]
