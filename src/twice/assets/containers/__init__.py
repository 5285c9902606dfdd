"""Files taken apart: one walker for each kind of container, all of them with the same words.

A walker takes a ``Source`` and gives its ``Part``s. It decodes no pixels and no samples, and decides nothing about
what it finds: ``leaks``, ``payload`` and ``scrubbing`` do.

Invariant: any bytes end in parts or in ``Damaged``, in time proportional to their number; nothing is executed.
"""
