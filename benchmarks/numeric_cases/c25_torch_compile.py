"""A network, and the same one compiled."""

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.LayerNorm(128))
batch = torch.rand(32, 64)
with torch.no_grad():
    print("equal", bool(torch.equal(model(batch), torch.compile(model)(batch))))
