"""One rendering: a command in a clean folder, with pinned surroundings and limits.

Recording and re-rendering both go through here, so that what is checked later is what was run first.
Nothing here decides whether a command may run.

Invariant: a command gets an argument list, never a shell.
"""
