"""The gradient of a look-up by repeated indices: two threads add to the same rows."""

import torch

torch.manual_seed(0)
table = torch.randn(50, 64, requires_grad=True)
rows = torch.randint(0, 50, (4096,))
weights = torch.randn(4096, 64)
for _ in range(50):
    (table[rows] * weights).sum().backward()
print("gradient", table.grad.double().sum(1)[:4].tolist())
