"""What is known of a file, and of all files, before any rule is asked.

An analysis gives facts with their places; a rule is a query on them, and so is an audit.

Invariant: an analysis reports nothing and knows no severity.
"""
