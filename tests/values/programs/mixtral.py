"""A small Mixtral of transformers: which experts its layers run, with padding in the batch"""

import sys

import torch
from transformers import MixtralConfig, MixtralForCausalLM

device = sys.argv[1]
torch.manual_seed(0)
config = MixtralConfig(
    vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1, num_local_experts=4, num_experts_per_tok=2, output_router_logits=True, use_cache=False,
)  # fmt: skip
model = MixtralForCausalLM(config).to(device).eval()
ids = torch.randint(3, 64, (2, 10)).to(device)
mask = torch.ones_like(ids)
mask[0, :4] = 0
out = model(ids, attention_mask=mask, labels=ids)
for layer, logits in enumerate(out.router_logits):
    chosen = logits.topk(2).indices
    print("layer", layer, "tokens of experts", chosen.flatten().bincount(minlength=4).tolist())
print("next", out.logits[:, -1].argmax(-1).tolist(), "balanced", bool(out.aux_loss < 2.5))
