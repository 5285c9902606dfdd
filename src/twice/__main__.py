"""``python -m twice``: the command line.

``-m`` puts the working folder where modules are looked for first. A folder that is only to be read
must not be imported from, so it is taken out before anything else is imported; programs that are run
find their own modules in processes of their own. The package itself is imported before this: that is
why it imports nothing but itself.
"""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from twice.cli import main

if __name__ == "__main__":
    main()
