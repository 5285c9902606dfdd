"""Names of the sources that are not recorded, as ``--allow`` takes them.

Invariant: a name that stands in a record keeps its meaning.
"""

from __future__ import annotations

SOURCES = (
    "clock.numpy",
    "entropy.device",
    "entropy.torch",
    "files.change",
    "files.device",
    "files.mmap",
    "files.native",
    "files.open",
    "files.sqlite3",
    "files.write",
    "native.load",
    "network.accept",
    "network.connect",
    "network.descriptor",
    "network.listen",
    "network.native",
    "network.resolve",
    "network.send",
    "process.descriptor",
    "process.exec",
    "process.fork",
    "process.signal",
    "process.spawn",
    "process.start",
    "system.log",
    "threads.unowned",
)
NETWORKED = (
    "library", "native.load", "network.accept", "network.connect", "network.descriptor", "network.listen",
    "network.native", "network.resolve", "network.send", "process.exec", "process.fork", "process.spawn",
    "process.start",
)  # fmt: skip
"""Sources that may use the network: where one is allowed, a replay keeps its network."""
FAMILIES = (*dict.fromkeys(name.partition(".")[0] for name in SOURCES), "library")
"""What is written before the first dot; ``library.NAME`` stands for one that talks by itself."""
