"""A penalty that adds up many elements, in a loop that trains one vector."""

import torch

torch.manual_seed(0)
weights = torch.nn.Parameter(torch.randn(60_000))
target = torch.randn(60_000)
optimiser = torch.optim.SGD([weights], lr=0.1)
for step in range(4):
    error = weights - target
    total = error.exp().sum()  # guilty
    loss = error.square().mean() * total.detach().log()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
