"""Facts measured from a delivered file: what it is, whatever a log or a session says of it.

``file.py`` gives them all; ``loudness.py`` and ``truepeak.py`` are sound alone and take arrays.

Invariant: a measurement depends on the bytes of the file and on nothing else.
"""
