"""What a snapshot leaves out, leaf by leaf.

Not here: whether a restore is faithful; ``replayer.restoring`` decides that.

Invariant: a leaf is named missing only where the resumed run was seen to hold another value for it.
"""
