"""Files beyond listings: contents, writes, what ``stat`` says, temporary names.

``places`` says which file a path means and whether it is an input at all, ``overlay`` keeps what a replay
writes away from the real place, ``kept`` holds contents that a record carries. ``filesystem`` joins them;
``opening``, ``asking``, ``attributes``, ``changing`` and ``temporary`` list what stands in the place of the standard library's
functions.
"""
