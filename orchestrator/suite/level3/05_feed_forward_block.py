"""A pre-norm feed-forward block with a residual."""

import torch

FAMILY = "mlp"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, hidden)
        self.down = torch.nn.Linear(hidden, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def get_inputs(tokens=512, width=512, dtype=torch.float32):
    return [torch.randn(tokens, width, dtype=dtype)]


def get_init_inputs(width=512, hidden=1024):
    return [width, hidden]


def get_cases():
    correctness = [
        (1, 4, 6, "float32"),
        (3, 16, 32, "float32"),
        (7, 33, 65, "float32"),
        (16, 64, 128, "float32"),
        (5, 100, 40, "float32"),
        (33, 20, 50, "float32"),
        (2, 128, 96, "float32"),
        (9, 32, 48, "float16"),
        (16, 64, 64, "float16"),
        (11, 24, 72, "bfloat16"),
        (20, 48, 96, "bfloat16"),
    ]
    performance = [(512, 512, 1024, "float32"), (1024, 512, 1536, "float16"), (777, 480, 960, "bfloat16")]
    return [
        {
            "id": f"{tokens}x{width}x{hidden}-{dtype}",
            "kind": kind,
            "tokens": tokens,
            "width": width,
            "hidden": hidden,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for tokens, width, hidden, dtype in shapes
    ]
