"""generate() of a small T5 with a padded encoder input"""

import sys

import torch
from transformers import T5Config, T5ForConditionalGeneration

device = sys.argv[1]
torch.manual_seed(0)
config = T5Config(
    vocab_size=60, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0, pad_token_id=0,
    eos_token_id=1, initializer_factor=2.0,
)  # fmt: skip
model = T5ForConditionalGeneration(config).to(device).eval()
ids = torch.randint(2, 60, (3, 9)).to(device)
mask = torch.arange(9, device=device)[None] < torch.tensor([[9], [4], [6]], device=device)
ids = ids * mask
for name, options in {
    "greedy": {},
    "beams": {"num_beams": 2, "early_stopping": True},
    "at least": {"min_new_tokens": 5},
}.items():
    out = model.generate(input_ids=ids, attention_mask=mask.long(), max_new_tokens=8, do_sample=False, **options)
    print(name, tuple(out.shape), out[:, 1:4].tolist())
loss = model(input_ids=ids, attention_mask=mask.long(), labels=ids.masked_fill(~mask, -100)).loss
print("loss finite", bool(loss.isfinite()), "above 1", bool(loss > 1))
