"""The simulation that ``twice demo`` records, and what the demonstration does with it.

``harbour.py`` is an ordinary program with one mistake planted in it: it walks a set of names, and
the order of that walk depends on the hash seed. It is shipped as a file, so that the line which the
diagnosis names can be opened.

Invariant: nothing here is imported by a program under record; the file is copied and executed.
"""
