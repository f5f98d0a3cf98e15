"""torch.equal, allclose, assert_close and the branches after them"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
a = torch.randn(5, 4).to(device)
pairs = {"clone": a.clone(), "near": a + 1e-6, "far": a + 1, "other shape": a[:4], "view": a.T.contiguous().T}
for name, b in pairs.items():
    way = "equal" if torch.equal(a, b) else "not equal"
    if a.shape == b.shape:
        way += ", close" if torch.allclose(a, b, atol=1e-5) else ", not close"
        try:
            torch.testing.assert_close(a, b)
            way += ", asserted"
        except AssertionError as error:
            way += ", " + str(error).splitlines()[2].split("(")[0].strip()
    print(name + ":", way)
nans = torch.tensor([1.0, float("nan")], device=device)
print("nan", torch.equal(nans, nans.clone()), torch.allclose(nans, nans, equal_nan=True), (nans == nans).tolist())
