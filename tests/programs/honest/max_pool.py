"""Max pooling, windows of 3 by stride 2, padded."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.max_pool2d(x, 3, stride=2, padding=1)


def get_inputs(batch=2, channels=3, height=9, width=10, dtype=torch.float32):
    return [torch.randn(batch, channels, height, width, dtype=dtype)]


def get_cases():
    return [
        {"id": f"{h}x{w}-{t}".replace("torch.", ""), "height": h, "width": w, "dtype": t}
        for t in (torch.float32, torch.float16, torch.bfloat16)
        for h, w in [(2, 2), (9, 10), (17, 33)]
    ]
