"""Llama's SwiGLU feed-forward network."""

import torch
from transformers.models.llama import modeling_llama

FAMILY = "mlp"
SOURCE = "transformers 5, transformers.models.llama.modeling_llama.LlamaMLP"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        config = modeling_llama.LlamaConfig(hidden_size=width, intermediate_size=hidden, num_attention_heads=1)
        self.mlp = modeling_llama.LlamaMLP(config)

    def forward(self, x):
        return self.mlp(x)


def get_inputs(tokens=512, width=512, dtype=torch.float32):
    return [torch.randn(tokens, width, dtype=dtype)]


def get_init_inputs(width=512, hidden=1024):
    return [width, hidden]


def get_cases():
    correctness = [
        (1, 4, 6, "float32"),
        (3, 16, 32, "float32"),
        (7, 34, 65, "float32"),
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
