"""generate() of a small GPT-2 with a left-padded batch: greedy, by beams, and assisted"""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

device = sys.argv[1]
torch.manual_seed(0)
config = GPT2Config(
    vocab_size=80, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0, pad_token_id=0,
    initializer_range=0.5,
)  # fmt: skip
model = GPT2LMHeadModel(config).to(device).eval()
ids = torch.randint(1, 80, (3, 7)).to(device)
mask = torch.ones_like(ids)
mask[0, :3], mask[2, :5] = 0, 0
ids = ids.masked_fill(mask == 0, 0)
for name, options in {"greedy": {}, "beams": {"num_beams": 4, "num_return_sequences": 2}}.items():
    out = model.generate(ids, attention_mask=mask, max_new_tokens=10, do_sample=False, **options)
    print(name, tuple(out.shape), "tokens", out[:, 7:10].tolist())
out = model.generate(ids[1:2], max_new_tokens=10, do_sample=False, prompt_lookup_num_tokens=2)
print("lookup", tuple(out.shape), out[0, 7:12].tolist())
