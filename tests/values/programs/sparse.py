"""Sparse tensors: entries that are put together, counts, and what is left above a threshold"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
index = torch.randint(0, 6, (2, 20)).to(device)
matrix = torch.sparse_coo_tensor(index, torch.ones(20, device=device), (6, 6)).coalesce()
print("entries", matrix._nnz(), "most", int(matrix.values().max()), "twice or more", int((matrix.values() > 1).sum()))
dense = matrix.to_dense()
print("rows", dense.sum(1).int().tolist(), "empty", (dense == 0).all(1).nonzero().flatten().tolist())
rows = dense.to_sparse_csr()
print("csr", rows.crow_indices().tolist(), rows.values().numel())
common = (dense * (dense > 1)).to_sparse()
print("left", common._nnz(), "of one row", torch.sparse.sum(matrix, 1).to_dense().argmax().item())
