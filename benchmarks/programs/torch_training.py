"""A small network is trained on batches that were put in a set; TORCH_CASE says what else differs."""

import os

import torch

SAMPLES, TICKS = 48, 12


def main(run):
    torch.manual_seed(int(run.rng("torch").integers(2**31)))
    inputs = torch.randn(SAMPLES, 8)
    targets = inputs.sum(1, keepdim=True)
    network = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    weights = run.track("weights", {})
    names = {f"sample-{number}" for number in range(SAMPLES)}
    case = os.environ.get("TORCH_CASE", "")
    for tick in run.ticks(TICKS):
        order = sorted(names)
        if case == "order":
            order = list(names)
        chosen = [int(name.partition("-")[2]) for name in order[:16]]
        if case == "extra draw" and tick == 5 and "PEEK" in os.environ:
            torch.rand(1)
        batch = inputs[chosen] + 0.01 * torch.randn(len(chosen), 8)
        rate = 0.05 if case != "rate" else float(os.environ.get("RATE", "0.05"))
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = ((network(batch) - targets[chosen]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        weights["loss"] = float(loss)
        weights["first"] = network[0].weight.detach().numpy().copy()
