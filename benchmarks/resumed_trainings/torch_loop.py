"""A plain loop over a loader with two workers, saved in the middle of an epoch. ``own`` keeps the usual three states."""

import os
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

OWN = "own" in sys.argv


class Noisy(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        x = torch.sin(torch.arange(8) * (index + 1.0)) + 0.1 * torch.randn(8)
        return x, (x.sum() > 0).float().reshape(1)


def main():
    torch.manual_seed(5)
    loader = DataLoader(Noisy(), batch_size=8, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.5)
    checkpoint, step = None, 0
    if not OWN:
        from twice.integrations.checkpoints import Checkpoint

        checkpoint = Checkpoint(
            "last.ckpt", model=model, optimizer=optimizer, scheduler=scheduler, loader=loader
        )
        step = checkpoint.resume()
    elif os.path.exists("last.pt"):
        kept = torch.load("last.pt", weights_only=True)
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        scheduler.load_state_dict(kept["scheduler"])
        step = kept["step"]
    while step < 60:
        for x, y in loader if checkpoint is None else checkpoint.batches(loader):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            step += 1
            if step % 5 == 0 and checkpoint is not None:
                checkpoint.save(step)
            elif step % 5 == 0:
                state = {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(),
                    "step": step,
                }
                torch.save(state, "last.pt.new")
                os.replace("last.pt.new", "last.pt")
            if step == 60:
                break
    torch.save(model.state_dict(), "final.pt")


main()
