"""Files beyond listings: contents, writes, questions about files, temporary names.

``filesystem`` has the files of one session. ``places`` maps paths to files, ``overlay`` keeps what a replay writes
away from the real tree. ``functions``, ``open_functions`` and ``temporary_names`` have the replaced functions.
"""
