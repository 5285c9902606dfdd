"""Events that other threads noted while the main program waited are written down at once, in their order."""

from __future__ import annotations

import tracemalloc
from threading import Thread

from twice.recorder.effects import ops
from twice.recorder.effects.events import CONNECTION, unpack
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource

COUNT = 20_000
PLACE_BYTES = 8


def noted_on_a_thread(layer: EffectLayer) -> None:
    line = layer.line("main/connection:0")
    values = [str(at) for at in range(COUNT)]

    def note() -> None:
        for value in values:
            layer.note_line(line, ops.RECEIVED, value)

    thread = Thread(target=note)
    thread.start()
    thread.join()


def test_they_are_one_frame_in_their_order() -> None:
    frames: list[tuple[str, bytes]] = []
    layer = EffectLayer(LiveSource(), lambda kind, payload, _: frames.append((kind, payload)))
    noted_on_a_thread(layer)

    layer.flush()

    _, (kind, payload) = frames
    assert kind == CONNECTION
    assert unpack(payload) == [(ops.RECEIVED.number, str(at)) for at in range(COUNT)]


def test_joining_them_never_copies_the_ones_before() -> None:
    # A copy of all of them for each one more would be 10^8 steps here. It shows in memory: what was joined
    # stands twice then, numbers and values each.
    layer = EffectLayer(LiveSource(), None)
    noted_on_a_thread(layer)

    tracemalloc.start()
    try:
        layer.flush()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < COUNT * PLACE_BYTES * 3
    assert layer.manifest()["network"] == {"network.received": COUNT}
