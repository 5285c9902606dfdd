"""One command of ``twice`` that ends with the server that asked for it.

Invariant: it never outlives the process whose id is its first argument.
"""

from __future__ import annotations

import sys

from twice.cli import main
from twice.recorder.kernel.libc import end_with_parent

if __name__ == "__main__":
    end_with_parent(int(sys.argv.pop(1)))
    sys.argv[0] = "twice"
    main()
