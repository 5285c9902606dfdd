"""ONE WAY TO RUN A JOB IN ANOTHER PROCESS. Fresh, or forked from a process that has everything loaded.

A worker gets a job and answers in messages of plain data. If it dies, the parent learns how. The rooms above
bring the actions that a job names.

Invariant: when a worker is closed, none of the processes that it started still runs.
"""
