"""Which events of a window are worth their full state, when nothing can be looked at again later.

For: a trace file. Both machines choose without knowing of each other, so an event is chosen by where it
stands and the how-manieth time that place is passed there, which means the same on both sides even
where their flows differ. Whole iterations are chosen, so that most events have their neighbour
beside them: a difference is only credited to a line when the moment before was seen too.

Invariant: with room for all events, all are chosen; never more than there is room for.
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.diagnosis.tracing.trace import Point, Trace

EVENTS_MAX = 512


def choose_events(flow: Trace, limit: int = EVENTS_MAX) -> tuple[Point, ...]:
    """Events to sample, in the order in which the threads met them.

    Args:
        flow: every event of the window.
        limit: how many may be chosen.
    """
    events = sorted(_events(flow))
    if len(events) <= limit:
        return tuple(point for _, _, _, point in events)
    picked = _shallow(events, limit // 2)
    rest = [event for event in events if event[3] not in picked]
    room = limit - len(picked)
    stride = 1
    while True:
        among = [event for event in rest if event[2] % stride == 0]
        if len(among) <= room or not any(event[2] for event in among):
            break
        stride *= 2
    picked.update(dict.fromkeys(point for _, _, _, point in among[:room]))
    return tuple(point for _, _, _, point in events if point in picked)


_Event = tuple[int, int, int, Point]  # order, depth, the how-manieth at its place, point


def _events(flow: Trace) -> Iterator[_Event]:
    for lane in flow.lanes:
        passed: dict[tuple[int, int], int] = {}
        for index, (place, depth, order) in enumerate(
            zip(lane.places, lane.depths, lane.order, strict=True)
        ):
            times = passed.get((place, depth), 0)
            passed[place, depth] = times + 1
            yield order, depth, times, (lane.name, index)


def _shallow(events: list[_Event], limit: int) -> dict[Point, None]:
    """Pick the first and the last event, and the outermost frames' events as far as they fit."""
    picked = {events[0][3]: None, events[-1][3]: None}
    for depth in sorted({event[1] for event in events}):
        level = [event[3] for event in events if event[1] == depth and event[3] not in picked]
        if len(picked) + len(level) > limit:
            break
        picked.update(dict.fromkeys(level))
    return picked
