"""What tools act on, and how hosts reach them: one file or folder for each.

Invariant: the rooms' own code knows none of them; the table in ``finding.py`` alone names them, and
importing a module of this room imports no optional library.
"""
