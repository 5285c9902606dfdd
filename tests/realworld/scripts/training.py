"""Trains a small network on made-up data; nothing is seeded."""

import argparse
import random
import time

import numpy as np
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
lr = parser.parse_args().lr

began = time.perf_counter()
noise = np.random.default_rng()
x = torch.from_numpy(noise.normal(size=(64, 4)).astype(np.float32))
y = x.sum(dim=1, keepdim=True) + torch.randn(64, 1) * 0.1
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimiser = torch.optim.SGD(model.parameters(), lr=lr)
for epoch in range(5):
    order = np.random.permutation(64)
    for batch in np.array_split(order, 4):
        picked = torch.from_numpy(batch)
        loss = torch.nn.functional.mse_loss(model(x[picked]), y[picked])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print(epoch, float(loss), random.random(), time.perf_counter() - began)
