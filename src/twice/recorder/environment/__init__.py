"""The environment of a run: what is decided of it, what a process does to itself, and the measured fingerprint.

``surroundings.py`` decides variables and ``process_start.py`` applies what no variable can do. ``fingerprint.py``
measures the outcome: ``libraries.py`` what is installed and loaded, ``probes.py`` how it rounds.
"""
