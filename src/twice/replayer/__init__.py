"""RUN AGAIN. Executions of a recorded program that are held against its record.

Verifying, the read-only session, the branching session and re-running live here; each is the
recording session with other parts, in a process of its own. Saying where and why two runs part
lives upstairs.

Invariant: nothing here changes a record; a branch is a new one that names its parent.
"""
