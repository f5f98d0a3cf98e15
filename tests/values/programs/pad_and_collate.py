"""A collate function on the device: pads, builds masks and labels, drops what is too short"""

import sys

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

device = sys.argv[1]
torch.manual_seed(0)
data = [torch.randint(1, 9, (int(n),)) for n in torch.randint(1, 9, (14,))]


def collate(samples):
    samples = [each.to(device) for each in samples if len(each) > 2]
    ids = pad_sequence(samples, batch_first=True)
    mask = ids.ne(0)
    labels = ids.masked_fill(~mask, -100)
    labels[:, 0] = -100
    return ids, mask, labels


for ids, mask, labels in DataLoader(data, batch_size=5, collate_fn=collate):
    if mask.all():
        print("no padding", end=" ")
    counted = labels[labels != -100]
    print(tuple(ids.shape), "lengths", mask.sum(1).tolist(), "labels", counted.numel(), "largest", counted.max().item())
