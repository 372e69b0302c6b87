"""Batch norm with running statistics, then ReLU."""

import torch


class Model(torch.nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.norm(x))


def get_inputs(batch=2, channels=6, size=7, dtype=torch.float32):
    return [torch.randn(batch, channels, size, size, dtype=dtype)]


def get_init_inputs(channels=6):
    return [channels]


def get_cases():
    return [
        {"id": f"{b}x{c}x{s}-{t}".replace("torch.", ""), "batch": b, "channels": c, "size": s, "dtype": t}
        for t in (torch.float32, torch.float16)
        for b, c, s in [(1, 1, 1), (2, 6, 7), (3, 5, 16)]
    ]
