"""The inventory of what a run touched, and the seal that keeps a replay away from the world.

``inventory.py`` holds what was touched, ``backchannels.py`` knows which operations reach the world
beside the effects layer, ``watching.py`` sees them, ``places.py`` says whose they are.

Invariant: nothing here changes what an operation does; it is counted, or refused before it happens.
"""
