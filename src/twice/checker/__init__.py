"""Reading a program for what would make two runs of it differ, without running it.

Here live the engine (``survey`` reads a file once, ``names`` and ``kinds`` say what an expression
is, ``uses`` follows where its value goes), the rules, one file each, the catalogues of API names as
data, the policy that weighs a finding by what was promised, and the formats that findings are
written in. Running a program to confirm a finding is not done here.

Invariant: what comes out depends on the files, the configuration and the date given, and on nothing
else: not on the hash seed, the number of jobs or the order of a listing.
"""
