"""Orthogonal initial weights, which are a decomposition by LAPACK."""

import torch

torch.manual_seed(0)
weight = torch.nn.init.orthogonal_(torch.empty(128, 128))
print("weights", [value.hex() for value in weight[0, :4].tolist()])
