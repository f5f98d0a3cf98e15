"""Metrics of torchmetrics over batches on the device"""

import sys

import torch
from torchmetrics import MeanMetric, MetricCollection
from torchmetrics.classification import (
    MulticlassAccuracy,
    MulticlassConfusionMatrix,
    MulticlassF1Score,
)
from torchmetrics.detection import IntersectionOverUnion

device = sys.argv[1]
torch.manual_seed(0)
metrics = MetricCollection({
    "accuracy": MulticlassAccuracy(3, average="micro"),
    "f1": MulticlassF1Score(3),
    "matrix": MulticlassConfusionMatrix(3, ignore_index=-1),
}).to(device)  # fmt: skip
mean, overlap = MeanMetric().to(device), IntersectionOverUnion().to(device)
for batch in range(5):
    target = torch.randint(0, 3, (20,)).to(device)
    logits = torch.randn(20, 3).to(device) + 2 * torch.nn.functional.one_hot(target, 3)
    metrics.update(logits, target)
    mean.update((logits.argmax(-1) != target).float().mean())
boxes = torch.tensor([[0.0, 0, 10, 10], [20, 20, 30, 30]], device=device)
labels = torch.tensor([1, 2], device=device)
overlap.update([{"boxes": boxes, "labels": labels}], [{"boxes": boxes + 5, "labels": labels}])
result = metrics.compute()
print("matrix", result["matrix"].tolist())
print(
    "accuracy",
    round(result["accuracy"].item(), 3),
    "f1",
    round(result["f1"].item(), 3),
    "error",
    round(mean.compute().item(), 3),
)
print("iou", round(overlap.compute()["iou"].item(), 3))
