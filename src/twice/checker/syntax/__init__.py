"""One file understood: what stands in it, what names and expressions are, and where values go.

``survey`` walks the tree once; ``names``, ``attributes`` and ``kinds`` are asked later, where a rule has
a reason to; ``uses`` follows values and orders. ``module`` is how rules see all of it. What is wrong
with anything is not decided here.

Invariant: nothing here knows a rule.
"""
