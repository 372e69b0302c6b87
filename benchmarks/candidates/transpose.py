"""The last two dimensions change places in memory."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.transpose(-2, -1).contiguous()


def get_inputs(batch=2, rows=33, columns=65):
    return [torch.randn(batch, rows, columns)]


def get_cases():
    return [
        {"id": f"{batch}x{rows}x{columns}", "batch": batch, "rows": rows, "columns": columns}
        for batch, rows, columns in ((1, 1, 1), (2, 3, 5), (1, 64, 33), (2, 33, 65), (3, 32, 64))
    ]
