"""Pictures, sounds and films, read through the libraries of their field: Pillow, soundfile, PyAV.

``sniff`` names a format by its first bytes. ``payload`` gives the digest of what a file is for, ``measure`` its size,
rate, loudness and true peak, ``similarity`` the figures of two renderings. No file is changed here, and nothing that a
file contains is executed.

Invariant: a file that a library cannot read to its end is refused with one error, never half digested.
"""
