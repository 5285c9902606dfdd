"""How alike two renderings are: figures for pictures and sounds, and the tolerances that judge by them.

Invariant: two equal files reach the best value of every figure.
"""
