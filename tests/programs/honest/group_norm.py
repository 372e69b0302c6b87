"""Group norm over channels and pixels."""

import torch


class Model(torch.nn.Module):
    def __init__(self, groups=2, channels=6):
        super().__init__()
        self.norm = torch.nn.GroupNorm(groups, channels)

    def forward(self, x):
        return self.norm(x)


def get_inputs(batch=2, channels=6, size=5):
    return [torch.randn(batch, channels, size, size)]


def get_init_inputs(groups=2, channels=6):
    return [groups, channels]


def get_cases():
    names = ("batch", "groups", "channels", "size")
    return [
        {"id": "x".join(map(str, s)), **dict(zip(names, s, strict=True))}
        for s in [(1, 1, 2, 2), (3, 2, 6, 5), (2, 4, 8, 17)]
    ]
