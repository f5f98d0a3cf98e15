"""python3 make_values.py: writes this folder's models that look at values, and two that were made for inference."""

import torch


class Looks(torch.nn.Module):
    """A loop, a size and a number, of a product that is too large to be computed."""

    def forward(self, x):
        y = x @ x
        rounds = 0
        while bool(y.mean() > 0) and rounds < 10:
            rounds += 1
        size = int(y.argmax())
        return y[:, : size % 7 + 1] * y.mean().item()


class Endless(torch.nn.Module):
    def forward(self, x):
        y = x @ x
        while bool(y.mean() > -5):
            y = y @ x
        return y


def small():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4, 2)
    ).eval()


torch.jit.script(Looks()).save("looks.pt")
torch.jit.script(Endless()).save("endless.pt")
torch.jit.freeze(torch.jit.script(small())).save("frozen_weights.pt")
torch.jit.optimize_for_inference(torch.jit.script(small())).save("optimized.pt")
