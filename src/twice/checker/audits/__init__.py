"""Audits: every place where code draws at random, and every place where it reads the world.

A finding says that something is wrong; an audit lists what is there, with its owner, right or wrong. ``facts`` gathers
in the pass of the check, file by file, ``audit`` puts the files together, ``streams`` settles who owns what.

Invariant: the lists depend on the text of the files, the catalogue and the zones alone.
"""
