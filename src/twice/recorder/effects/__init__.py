"""Everything a program reads from the world, one file per source.

``layer`` is the one path, ``sources`` says where values come from (world, record, branch), ``ops``
numbers the operations, ``events`` packs them; ``clock``, ``entropy`` and ``effects_api`` each tell how
their source is read live, recorded, replayed, and what they do not cover.

Invariant: nothing outside this folder decides whether a read is live or served.
"""
