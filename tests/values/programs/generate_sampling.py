"""generate() of a small GPT-2 that draws its tokens until the end token comes"""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

device = sys.argv[1]
torch.manual_seed(0)
config = GPT2Config(
    vocab_size=30, n_positions=128, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0, pad_token_id=0
)
model = GPT2LMHeadModel(config).to(device).eval()
ids = torch.randint(1, 30, (2, 4)).to(device)
out = model.generate(ids, max_new_tokens=100, do_sample=True, top_p=0.9, top_k=0, temperature=1.1)
print("shape", tuple(out.shape), "ended", (out[:, 4:] == 0).any(1).tolist())
print("tokens", out[0, 4:10].tolist())
