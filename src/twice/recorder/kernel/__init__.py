"""The layer below Python: what the kernel tells of files and processes, and the world that it gives a replay.

While recording, a supervisor learns of every file that any code of the process tree opens, changes or
removes. In replay, the program runs in a copy of the files as they were, made of mount namespaces. Each
tier is tried in a process that is thrown away, never read off a switch; where one is refused, the next
lower one is used, and the verdict names it.

Not for: reads through Python, whose order and arguments ``effects`` compares.

Invariant: outside of a recording, nothing here changes, makes or removes a file of the user's.
"""
