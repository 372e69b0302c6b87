"""Qwen3's attention with its projections, head norms and rotary embedding."""

import torch
from transformers.models.qwen3 import modeling_qwen3

FAMILY = "attention"
SOURCE = "transformers 5, transformers.models.qwen3.modeling_qwen3.Qwen3Attention"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        config = modeling_qwen3.Qwen3Config(
            hidden_size=heads * width,
            intermediate_size=heads * width * 2,
            num_attention_heads=heads,
            num_key_value_heads=heads // 2,
            head_dim=width,
            num_hidden_layers=1,
            attn_implementation="eager",
        )
        self.attention = modeling_qwen3.Qwen3Attention(config, layer_idx=0)

    def forward(self, x, cosine, sine):
        return self.attention(x, position_embeddings=(cosine, sine), attention_mask=None)[0]


def get_inputs(batch=2, length=256, heads=8, width=64, dtype=torch.float32):
    return [
        torch.randn(batch, length, heads * width, dtype=dtype),
        torch.randn(batch, length, width, dtype=dtype),
        torch.randn(batch, length, width, dtype=dtype),
    ]


def get_init_inputs(heads=8, width=64):
    return [heads, width]


def get_cases():
    correctness = [
        (1, 2, 2, 4, "float32"),
        (2, 5, 2, 8, "float32"),
        (1, 17, 4, 16, "float32"),
        (2, 7, 2, 32, "float32"),
        (1, 9, 6, 8, "float32"),
        (3, 6, 2, 10, "float32"),
        (2, 4, 4, 12, "float32"),
        (1, 11, 2, 16, "float16"),
        (2, 8, 4, 8, "float16"),
        (1, 13, 2, 12, "bfloat16"),
    ]
    performance = [(2, 256, 8, 64, "float32"), (2, 512, 8, 64, "float16"), (1, 333, 8, 96, "bfloat16")]
    return [
        {
            "id": f"{batch}x{length}x{heads}x{width}-{dtype}",
            "kind": kind,
            "batch": batch,
            "length": length,
            "heads": heads,
            "width": width,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, length, heads, width, dtype in shapes
    ]
