"""What stands in the job of a session's process, besides what its action asks for.

Invariant: a job is plain data.
"""

from __future__ import annotations

from typing import Final

SUPERVISED: Final = "supervised"
"""Set in a job whose process is supervised: a recording, which learns of every file that is touched."""
WORLD: Final = "world"
"""Set in a job whose process runs in a copy of the files: what else the keeper is told, by name."""
GO_ON: Final = "go-on"
"""What a recording does when its record cannot be written any more; the other way is ``stop``."""
