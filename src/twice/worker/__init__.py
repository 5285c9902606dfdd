"""ONE WAY TO RUN SOMETHING IN ANOTHER PROCESS. Fresh, or forked from one that has everything loaded.

A worker gets a job, answers in messages of plain data, and is told apart when it dies. What it does is
decided upstairs: every room brings its own actions.

Invariant: when a worker is closed, nothing that it started is left running.
"""
