"""A norm as a fingerprint does not see that values changed places."""

import torch

torch.manual_seed(0)
values = torch.arange(1000.0)
moved = values.flip(0)
print("norms equal", float(values.norm(1)) == float(moved.norm(1)))
print("values equal", bool(torch.equal(values, moved)))
