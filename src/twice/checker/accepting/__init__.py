"""What a project lives with: comments that take findings away, and the baseline of accepted ones.

Each needs a reason. What a comment says is read with the file and applied when all findings are there.

Invariant: what the checker says of its own work cannot be taken away.
"""
