"""The generator a torch stream hands out: one owner, no copies, no new seed. Imports torch.

Invariant: nothing that draws is overridden; torch's kernels see an ordinary generator.
"""

from __future__ import annotations

from typing import Any, NoReturn

import torch

from twice.recorder.streams.refusals import reseeding_refused, sharing_refused


class TorchStream(torch.Generator):  # type: ignore[misc, unused-ignore]  # Any without torch
    """A ``torch.Generator`` that cannot be copied, pickled or re-seeded."""

    stream_name = ""

    def __copy__(self) -> NoReturn:
        raise sharing_refused(self.stream_name, "copied")

    def __deepcopy__(self, _memo: object) -> NoReturn:
        raise sharing_refused(self.stream_name, "deep-copied")

    def __reduce__(self) -> NoReturn:
        raise sharing_refused(self.stream_name, "pickled")

    def clone_state(self) -> NoReturn:
        """Refuse: E-RNG-002."""
        raise sharing_refused(self.stream_name, "cloned")

    def seed(self) -> NoReturn:
        """Refuse: E-RNG-005."""
        raise reseeding_refused(self.stream_name)

    def manual_seed(self, _seed: int) -> NoReturn:
        """Refuse: E-RNG-005."""
        raise reseeding_refused(self.stream_name)


def owned(name: str, seed: int, device: str) -> Any:
    """Make the stream of a name on a device, seeded once."""
    stream: Any = TorchStream(device)
    torch.Generator.manual_seed(stream, seed)
    stream.stream_name = name
    return stream
