"""What to do about the line that was named: by what stands on it, else by its channel.

Not for: a finding of the checker at that line, whose remedy is closer (``surfaces`` puts it first).

Invariant: a sentence says what to write, and nothing of why.
"""

from __future__ import annotations

from typing import Final

from twice.diagnosing.locating import callables as tags
from twice.diagnosing.locating.located import Located
from twice.foundation.channels import Channel

_BY_TAG: Final = (
    (tags.UNSEEDED, Channel.SEEDS, "give it a seed of the run: run.rng(name), or a seed derived from it"),
    (tags.CLOCK, Channel.EFFECTS, "take the time as an input: run.input(name, time.time)"),
    (tags.ENTROPY, Channel.EFFECTS, "draw it from a generator of the run: run.rng(name)"),
    (tags.LISTING, Channel.EFFECTS, "sort the listing"),
    (tags.ENVIRONMENT, Channel.EFFECTS, "take it as an input: run.input(name, ...)"),
    (tags.VARIABLE, Channel.EFFECTS, "hand it in as configuration: run.config[name], or --set name=value"),
    (tags.TEXT, Channel.ENCODING, 'say which encoding: encoding="utf-8"'),
    (tags.HASH, Channel.ENCODING, "use a digest that is the same in every process: hashlib, or zlib.crc32"),
    (tags.PICKLE, Channel.ENCODING, "write the value in a form with one order, as json with sort_keys=True"),
    (tags.REPR, Channel.ENCODING, "write the fields that matter, not the text of the object"),
    (tags.ADDRESS, Channel.CONCURRENCY, "use a number that the program gives, not an address"),
    (tags.MATMUL, Channel.FLOATING_POINT, "give both runs the same number of threads, or declare a tolerance"),
    (tags.SUM, Channel.FLOATING_POINT, "add in one order, or with math.fsum, or declare a tolerance"),
    (tags.SHARED_DRAW, Channel.RNG, "give each part a generator of its own: run.rng(name)"),
)  # fmt: skip
_BY_CHANNEL: Final = {
    Channel.SEEDS: "give every generator a seed of the run: run.rng(name), or reset(seed=...)",
    Channel.RNG: "give each part a generator of its own: run.rng(name)",
    Channel.SNAPSHOT: "return what is missing from state(), and put it back in restore()",
    Channel.EFFECTS: "record what comes from the world: run.input, or @twice.effect around the call",
    Channel.FLOATING_POINT: "give both runs the same number of threads, or declare a tolerance",
}
_ORDER: Final = "walk it in an order of its own: sorted({what})"


def find_remedy(located: Located | None, channel: Channel) -> str:
    """Return what to do about a difference that came through a channel; empty where nothing is sure to help."""
    if located is not None:
        if channel is Channel.CONCURRENCY and located.iterates:
            return _ORDER.format(what=located.iterates[-1])
        for tag, of, remedy in _BY_TAG:
            if of is channel and tag in located.tags:
                return remedy
    return _BY_CHANNEL.get(channel, "")
