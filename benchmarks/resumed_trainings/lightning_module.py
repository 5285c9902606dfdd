"""A small LightningModule. ``own`` is Lightning's own checkpoint every few steps and ``ckpt_path``."""

import glob
import logging
import os
import sys

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

OWN = "own" in sys.argv
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))

    def training_step(self, batch):
        return nn.functional.mse_loss(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


pl.seed_everything(5)
x = torch.randn(96, 8)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
model = Net()
options = {
    "max_epochs": 5, "logger": False, "enable_progress_bar": False, "enable_model_summary": False,
    "accelerator": "cpu", "devices": 1,
}  # fmt: skip
if OWN:
    keep = pl.callbacks.ModelCheckpoint(
        "ckpt", every_n_train_steps=5, save_top_k=-1, filename="{step:03d}"
    )
    saved = sorted(glob.glob("ckpt/*.ckpt"))
    pl.Trainer(callbacks=[keep], **options).fit(
        model, loader, ckpt_path=saved[-1] if saved else None
    )
else:
    from twice.integrations.checkpoints.lightning import CompleteCheckpoint

    complete = CompleteCheckpoint("training.ckpt", every=5)
    pl.Trainer(callbacks=[complete], enable_checkpointing=False, **options).fit(
        model, loader, ckpt_path=complete.resume_path
    )
torch.save(model.state_dict(), "final.pt")
print("trained", os.path.exists("final.pt"))
