"""Learns to tell tones from noise; a long recording is measured first, and its level calibrates the last stage."""

import math
import time

import torch
from torch import nn

RATE, SECONDS = 8_000, 30
FRAME = 64
CLASSES = ("noise", "tone", "chirp")


class Recording:
    """A long signal, made from a few voices."""

    def __init__(self, seed):
        generator = torch.Generator().manual_seed(seed)
        n = RATE * SECONDS
        t = torch.arange(n, dtype=torch.float64) / RATE
        self.samples = 0.3 * torch.randn(n, generator=generator, dtype=torch.float64)
        for pitch in (220.0, 331.7, 467.3):
            self.samples += 0.2 * torch.sin(2 * math.pi * pitch * t)

    def frames(self, number, generator):
        starts = torch.randint(0, len(self.samples) - FRAME, (number,), generator=generator)
        return torch.stack([self.samples[s : s + FRAME] for s in starts.tolist()])


class Level:
    """What the recording measures as a whole."""

    def __init__(self, recording):
        samples = recording.samples
        self.length = len(samples)
        self.peak = samples.abs().max().item()
        self.power = samples.square().sum().item() / self.length
        self.crossings = int((samples[1:].sign() != samples[:-1].sign()).count_nonzero())

    def decibels(self):
        return 10 * math.log10(self.power)

    def gain(self, wanted=0.05):
        return math.sqrt(wanted / self.power)


def examples(kind, frames, generator):
    t = torch.arange(FRAME, dtype=torch.float64)
    phase = 6.28 * torch.rand(len(frames), 1, generator=generator, dtype=torch.float64)
    if kind == "tone":
        return 0.5 * frames + 0.4 * torch.sin(0.5 * t + phase)
    if kind == "chirp":
        return 0.5 * frames + 0.4 * torch.sin(0.2 * t + 0.006 * t * t + phase)
    return frames


class Stage:
    def __init__(self, name, epochs, gain=None):
        self.name, self.epochs, self.gain = name, epochs, gain

    def prepare(self, frames):
        return frames if self.gain is None else frames * self.gain()


class Classifier:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(FRAME, 12), nn.Tanh(), nn.Linear(12, len(CLASSES))).double()
        self.optimiser = torch.optim.SGD(self.net.parameters(), lr=0.2, momentum=0.7)
        self.batches = 0

    def train(self, stage, recording, generator):
        for _ in range(stage.epochs):
            parts = []
            for kind in CLASSES:
                frames = stage.prepare(recording.frames(16, generator))
                parts.append(examples(kind, frames, generator))
            target = torch.arange(len(CLASSES)).repeat_interleave(16)
            loss = nn.functional.cross_entropy(self.net(torch.cat(parts)), target)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            self.batches += 1
        return loss.item()


def main():
    began = time.perf_counter()
    recording = Recording(10)
    level = Level(recording)
    print(f"{level.length} samples, peak {level.peak:.4f}, {level.crossings} crossings, {level.decibels():.2f} dB")
    generator = torch.Generator().manual_seed(15)
    classifier = Classifier(1)
    stages = [Stage("plain", 30), Stage("more", 20), Stage("levelled", 45, level.gain)]
    for stage in stages:
        loss = classifier.train(stage, recording, generator)
        print(f"{stage.name}: loss {loss!r} after {classifier.batches} batches")
    names = {name for name, _ in classifier.net.named_parameters()}
    for name in sorted(names):
        print(f"{name}: {classifier.net.get_parameter(name).detach().norm().item()!r}")
    if time.perf_counter() - began > 1_000:
        print("slow")


if __name__ == "__main__":
    main()
