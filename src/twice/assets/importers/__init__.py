"""What generators and workstations embed in files, read into the fields of a determinism log.

``detect`` goes from a file to its dialects, each of which tells a ``Reading`` of ``result`` what it says; ``merge`` puts
the outcome into a log. Nothing that a file holds is run.

Invariant: a value comes with the chunk that it stood in, and what is ambiguous is no value.
"""
