"""A diffusion scheduler: time steps on the device, the last one without noise"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
betas = torch.linspace(1e-4, 0.02, 100, device=device)
alphas = torch.cumprod(1 - betas, 0)
timesteps = torch.linspace(99, 0, 8, device=device).round().long()
sample = torch.randn(1, 2, 4, 4).to(device)
ways = []
for t in timesteps:
    index = (timesteps == t).nonzero().item()
    previous = timesteps[index + 1] if index + 1 < len(timesteps) else torch.tensor(-1, device=device)
    noise = sample * (1 - alphas[t]).sqrt()
    sample = sample - 0.1 * noise
    if previous >= 0:
        sample = sample + 0.01 * alphas[previous].sqrt()
        ways.append((int(t), int(previous)))
    else:
        ways.append((int(t), "last"))
    if t < 30 and len(ways) % 2 == 0:
        sample = sample.clamp(-1, 1)
        ways[-1] += ("clamped",)
print("steps", ways)
print("inside", bool((sample.abs() <= 1).all()), "snr above 1 from", int((alphas / (1 - alphas) > 1).nonzero().max()))
