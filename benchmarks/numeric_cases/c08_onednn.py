"""A convolution, which oneDNN computes."""

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
image = torch.rand(2, 8, 32, 32) - 0.5
layer = torch.nn.Conv2d(8, 16, 3)
with torch.no_grad():
    print("convolution", float(layer(image).double().sum()).hex())
