"""Reductions of a fixed order: their bits depend on the values and the shape alone.

``sum``, ``mean``, ``dot`` and ``matmul`` add in an order that their ``method`` fixes. ``histogram`` and ``scatter_add``
give one result for every order of their pairs, and ``argsort`` is stable. They take numpy arrays, sequences of numbers
and torch tensors in memory. They assume round-to-nearest and gradual underflow, which is what a process starts with:
a library that switches denormals off changes them. Nothing here can be differentiated, and nothing runs on a GPU.

Invariant: no result depends on the number of threads, on BLAS, on numpy's choice of instructions, on strides, order or
alignment in memory, or on other rows and lanes of the same call.
"""

from twice.numeric.groups import argsort, histogram, scatter_add
from twice.numeric.reductions import dot, matmul, mean, sum  # noqa: A004  (numeric.sum, as np.sum)

__all__ = ["argsort", "dot", "histogram", "matmul", "mean", "scatter_add", "sum"]
