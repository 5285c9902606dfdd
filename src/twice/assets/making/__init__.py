"""From a command and what people say to a draft of a determinism log.

Invariant: a value is either read off the run or named as declared; none is made up.
"""
