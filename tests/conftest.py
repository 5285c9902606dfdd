"""What all tests share: ``programs`` stands on the path for every one of them."""

from __future__ import annotations

import os

# A session's process refuses to start sessions, and a seed from the caller's shell would hide that
# one is missing: tests start from neither.
for _name in ("TWICE_SESSION", "TWICE_SEED"):
    os.environ.pop(_name, None)
