"""Reading a program for what would make two runs of it differ, without running it.

``driver`` checks files: ``analyzer`` reads each with every rule, ``cache`` keeps the results, and the findings get their
severity by ``policy``. ``project`` takes away what comments (``suppressions``) and the ``baseline`` accept, and makes the
report that ``formats`` write. Running a program to confirm a finding is not done here.

Invariant: what comes out depends on the files, the configuration and the date given, and on nothing
else: not on the hash seed, the number of jobs or the order of a listing.
"""
