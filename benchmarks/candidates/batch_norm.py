"""torch's batch norm with the statistics that training left."""

import torch


class Model(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(channels).eval()

    def forward(self, x):
        return self.norm(x)


def get_inputs(batch=2, channels=5, size=9):
    return [torch.randn(batch, channels, size, size)]


def get_init_inputs(channels=5):
    return [channels]


def get_cases():
    return [
        {"id": f"{batch}x{channels}x{size}", "batch": batch, "channels": channels, "size": size}
        for batch, channels, size in ((1, 1, 2), (2, 3, 7), (1, 8, 16), (3, 5, 11), (2, 16, 20))
    ]
