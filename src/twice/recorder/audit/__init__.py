"""The inventory of what a run touched, and the seal that keeps a replay away from the world.

``channels.py`` says which operations reach the world beside the effects layer, ``hook.py`` sees them, and
``inventory.py`` keeps what was met. ``native_sockets.py`` finds the connections of C code.

Invariant: nothing here changes what an operation does; it is counted, or refused before it happens.
"""
