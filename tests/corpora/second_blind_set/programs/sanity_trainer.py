"""A small training loop with callbacks and a sanity check of the validation loop.

Before training starts, SANITY_STEPS batches of the validation set are run, so that a
mistake in the validation code shows up at once and not after an hour.
"""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SANITY_STEPS = int(os.environ.get("SANITY_STEPS", "0"))


def make_data():
    source = torch.Generator().manual_seed(5)
    x = torch.randn(240, 6, generator=source)
    y = (x[:, 0] * x[:, 1] > 0).float()
    return TensorDataset(x[:180], y[:180]), TensorDataset(x[180:], y[180:])


class Callback:
    def on_epoch_end(self, epoch, logs):
        pass


class History(Callback):
    def __init__(self):
        self.rows = []

    def on_epoch_end(self, epoch, logs):
        self.rows.append((epoch, logs["train"], logs["val"]))


class Trainer:
    def __init__(self, model, callbacks):
        self.model = model
        self.callbacks = callbacks
        self.loss = nn.BCEWithLogitsLoss()
        self.optimiser = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)

    def evaluate(self, loader, limit=None):
        self.model.eval()
        total, count = 0.0, 0
        with torch.no_grad():
            for number, (x, y) in enumerate(loader):
                if limit is not None and number >= limit:
                    break
                total += float(self.loss(self.model(x).squeeze(1), y)) * len(y)
                count += len(y)
        self.model.train()
        return total / max(count, 1)

    def fit(self, train, val, epochs):
        if SANITY_STEPS:
            self.evaluate(val, limit=SANITY_STEPS)
        for epoch in range(epochs):
            total = 0.0
            for x, y in train:
                self.optimiser.zero_grad()
                loss = self.loss(self.model(x).squeeze(1), y)
                loss.backward()
                self.optimiser.step()
                total += float(loss.detach()) * len(y)
            logs = {"train": total / len(train.dataset), "val": self.evaluate(val)}
            for callback in self.callbacks:
                callback.on_epoch_end(epoch, logs)


if __name__ == "__main__":
    torch.manual_seed(11)
    train_set, val_set = make_data()
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    history = History()
    trainer = Trainer(model, [history])
    trainer.fit(DataLoader(train_set, batch_size=20, shuffle=True), DataLoader(val_set, batch_size=20), epochs=4)
    for epoch, train_loss, val_loss in history.rows:
        print(f"epoch {epoch}  train {train_loss:.6f}  val {val_loss:.6f}")
