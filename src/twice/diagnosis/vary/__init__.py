"""Other surroundings on purpose: which of them does a program's result depend on?

``factors`` is the list of what can be varied and how, ``search`` runs the experiment, ``report`` is its
result as a value.

Invariant: a factor is blamed only after a run in which nothing else was changed.
"""
