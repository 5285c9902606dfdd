"""A loader with a worker for each processor: draws belong to workers, not to samples."""

import os
import random

import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return random.random()


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Noisy(), batch_size=4, num_workers=len(os.sched_getaffinity(0)))
    for batch in loader:
        print("batch", batch.tolist())
