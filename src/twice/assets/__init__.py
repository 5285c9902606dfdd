"""ASSETS. What made a picture or a sound, whether it can be made again, and that no trace of it is published.

Here live the logs of assets, what is read from files that generators and sessions leave, the gate, and what
keeps a public build clean. A program that is run for an asset is recorded by ``recording``, as any other.

Invariant: a file of a stranger is read and never obeyed, within limits of memory and time.
"""
