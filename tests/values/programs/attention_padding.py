"""Attention masks with padding: what a model makes of full, left-padded and right-padded ones"""

import sys

import torch
from transformers import BertConfig, BertModel, OPTConfig, OPTModel

device = sys.argv[1]
torch.manual_seed(0)
bert = BertModel(
    BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
)
opt = OPTModel(
    OPTConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        ffn_dim=16,
        word_embed_proj_dim=16,
        max_position_embeddings=64,
    )
)
ids = torch.randint(2, 50, (2, 6)).to(device)
masks = {"full": [[1] * 6] * 2, "left": [[0, 0, 1, 1, 1, 1], [1] * 6], "right": [[1] * 6, [1, 1, 1, 0, 0, 0]]}
for model in (bert.to(device).eval(), opt.to(device).eval()):
    plain = model(ids).last_hidden_state
    for name, mask in masks.items():
        mask = torch.tensor(mask, device=device)
        hidden = model(ids, attention_mask=mask).last_hidden_state
        same = torch.isclose(hidden, plain, atol=1e-5).all(-1)
        print(type(model).__name__, name, "same positions", same.sum(1).tolist(), "all", bool(same[mask.bool()].all()))
