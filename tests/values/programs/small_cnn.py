"""A small convolutional network, trained until every image is recognised"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.ReLU(),
    nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 3),
).to(device)  # fmt: skip
target = torch.arange(3).repeat(8)
images = torch.randn(24, 1, 8, 8) * 0.3
for image, label in zip(images, target):
    image[0, :, 2 * label : 2 * label + 2] += 2
images, target = images.to(device), target.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(100):
    output = model(images)
    if (output.argmax(1) == target).all() and output.softmax(1).amax(1).min() > 0.6:
        break
    optimizer.zero_grad()
    nn.functional.cross_entropy(output, target).backward()
    optimizer.step()
model.eval()
print("epochs", epoch, "batches in norm", model[1].num_batches_tracked.item())
print("right in eval", (model(images).argmax(1) == target).sum().item(), "of 24")
