"""Rows of a table, by index."""

import torch

FAMILY = "gather"
SOURCE = "kernelvault starter suite"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = torch.nn.Embedding(vocabulary, width)

    def forward(self, tokens):
        return self.table(tokens)


def get_inputs(batch=8, length=512, vocabulary=8192):
    return [torch.randint(0, vocabulary, (batch, length))]


def get_init_inputs(vocabulary=8192, width=512):
    return [vocabulary, width]


def get_cases():
    correctness = [
        (1, 1, 2, 1),
        (2, 5, 10, 33),
        (3, 7, 100, 64),
        (1, 33, 50, 7),
        (4, 16, 64, 128),
        (2, 65, 1000, 20),
        (5, 9, 31, 65),
        (1, 128, 257, 16),
        (7, 3, 13, 100),
        (2, 2, 400, 130),
    ]
    performance = [(8, 512, 8192, 512), (4, 1024, 32000, 128), (16, 333, 5000, 768)]
    return [
        {
            "id": f"{batch}x{length}x{vocabulary}x{width}",
            "kind": kind,
            "batch": batch,
            "length": length,
            "vocabulary": vocabulary,
            "width": width,
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, length, vocabulary, width in shapes
    ]
