"""generate() of a small Llama: greedy, by beams, and with an end token"""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

device = sys.argv[1]
torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, bos_token_id=1, eos_token_id=2, pad_token_id=0, initializer_range=0.5,
)  # fmt: skip
model = LlamaForCausalLM(config).to(device).eval()
forwards, forward = [0], model.forward


def counted(*arguments, **more):
    forwards[0] += 1
    return forward(*arguments, **more)


model.forward = counted
ids = torch.randint(5, 90, (2, 8)).to(device)
for name, options in {
    "greedy": {},
    "beams": {"num_beams": 3},
    "end": {"eos_token_id": list(range(3, 30))},
    "repetition": {"repetition_penalty": 1.5, "no_repeat_ngram_size": 2},
}.items():
    forwards[0] = 0
    out = model.generate(ids, max_new_tokens=12, do_sample=False, **options)
    print(name, tuple(out.shape), "forwards", forwards[0], "tokens", out[0, 8:13].tolist())
