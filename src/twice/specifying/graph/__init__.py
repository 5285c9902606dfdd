"""What follows from a change: edges between sheets, the re-emission tables, the update workflows, as data.

Lives here: the tables of the specification's seed document and how a difference is looked up in them.
Reading sheets and writing the lock do not.

Invariant: a change that no table lists counts as class-breaking, unless 01 tolerates it by name.
"""
