"""Running a log's recipe again, and holding the result against what is promised.

Invariant: a recipe that this account did not record runs only when a person trusts it by program.
"""
