"""A 3x3 convolution with padding and bias."""

import torch


class Model(torch.nn.Module):
    def __init__(self, inputs=3, outputs=8, stride=1):
        super().__init__()
        self.conv = torch.nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs(batch=1, inputs=3, height=9, width=11):
    return [torch.randn(batch, inputs, height, width)]


def get_init_inputs(inputs=3, outputs=8, stride=1):
    return [inputs, outputs, stride]


def get_cases():
    names = ("batch", "inputs", "height", "width", "outputs", "stride")
    sizes = [(1, 1, 1, 1, 1, 1), (2, 3, 9, 11, 5, 1), (1, 5, 8, 13, 18, 2)]
    return [{"id": "x".join(map(str, s)), **dict(zip(names, s, strict=True))} for s in sizes]
