"""Moving average of weights whose warm-up counter is a buffer on the device"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)


class Average(nn.Module):
    def __init__(self, model, decay=0.8, warmup=3):
        super().__init__()
        self.decay, self.warmup = decay, warmup
        self.shadow = [p.detach().clone() for p in model.parameters()]
        self.register_buffer("updates", torch.tensor(0, device=device))

    def update(self, model):
        self.updates += 1
        if self.updates <= self.warmup:
            for mean, p in zip(self.shadow, model.parameters()):
                mean.copy_(p.detach())
            return "copied"
        decay = min(self.decay, float((1 + self.updates) / (10 + self.updates)))
        torch._foreach_lerp_(self.shadow, [p.detach() for p in model.parameters()], 1 - decay)
        return f"{decay:.2f}"


model = nn.Linear(3, 3).to(device)
average = Average(model)
ways = []
for _ in range(8):
    with torch.no_grad():
        model.weight.add_(1.0)
    ways.append(average.update(model))
print(ways, "updates", int(average.state_dict()["updates"]))
print("behind", round((model.weight - average.shadow[0]).mean().item(), 1))
