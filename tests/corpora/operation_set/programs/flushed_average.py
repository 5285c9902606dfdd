"""An average of weights that shrinks into denormal numbers, which one run flushes to zero."""

import os

import torch

torch.manual_seed(6)
if os.environ.get("PLANT") == "1":
    torch.set_flush_denormal(True)
weights = torch.nn.Parameter(torch.ones(32))
average = torch.full((32,), 1e-30)
optimiser = torch.optim.SGD([weights], lr=0.5)
for step in range(6):
    loss = (weights * torch.arange(32.0)).sum() * 0.001
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    with torch.no_grad():
        average.mul_(1e-2)  # guilty
        weights.add_((average * 1e38).reshape(-1))
