"""Audits: every place where code draws at random, and every place where it asks the world.

A finding says that something is wrong; an audit lists what is there, with its owner, right or wrong.
``seeds`` and ``effects`` read one file each; ``projects`` puts files together.

Invariant: what is listed depends on the text of the files and the catalogue alone.
"""
