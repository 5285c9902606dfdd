"""Reads and writes 16-bit PCM as WAV, for the renderers."""

import wave

import numpy as np


def read(path):
    """Read the samples between -1 and 1, one row a channel, and the rate."""
    with wave.open(path, "rb") as file:
        raw = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return raw.reshape(-1, file.getnchannels()).T / 32768.0, file.getframerate()


def write(path, samples, rate):
    """Write samples between -1 and 1, one row a channel."""
    whole = np.clip(np.rint(np.asarray(samples, np.float64) * 32767), -32768, 32767).astype("<i2")
    with wave.open(path, "wb") as file:
        file.setnchannels(len(whole))
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(whole.T.tobytes())
