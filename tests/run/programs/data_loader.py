"""Trains from a data loader whose workers are started by the given method after CUDA was used."""

import sys

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    model = torch.nn.Linear(8, 8).cuda()
    data = TensorDataset(torch.randn(64, 8), torch.arange(64))
    loader = DataLoader(data, batch_size=8, num_workers=2, pin_memory=True, multiprocessing_context=sys.argv[1])
    for _ in range(2):
        for inputs, _ in loader:
            assert inputs.is_pinned()
            model(inputs.cuda(non_blocking=True)).sum().backward()
    print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
