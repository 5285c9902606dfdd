"""What users import to test the determinism of their own system.

``properties`` holds seven properties and the suite that a tier requires, ``faults`` plants what must turn
them red, ``strategies`` generates configurations, seeds and inputs, ``plugin`` is for pytest, ``encode`` gives
the canonical bytes of a value. Nothing here compares two runs or finds where they part: rooms below do, and
what they say is passed on.

Inside the room arrows run one way too: ``faults <- executor <- checks <- property_search <-
properties``; ``execution`` and ``planting`` are the other end of the line, in the processes that
``executor`` starts.

Invariant: an example is executed in a process that has executed no other, and what fails is executed
once more in a fresh one before it is reported.
"""

TYPE_CHECKING = False  # As in ``twice/__init__.py``: the plugin passes here, and loads nothing.
if TYPE_CHECKING:
    from twice.foundation.encoding import encode

__all__ = ["encode"]


def __getattr__(name: str) -> object:
    if name != "encode":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from twice.foundation.encoding import encode

    return encode
