"""Torch's own draws, and a normalised layer."""

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
draws = torch.randn(640)
print("draws", [value.hex() for value in draws[:6].tolist()])
layer = torch.nn.LayerNorm(64, elementwise_affine=False)(draws.reshape(10, 64))
print("layer", float(layer.double().abs().sum()).hex())
