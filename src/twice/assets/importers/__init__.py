"""What generators and workstations embed in files, read into the fields of a determinism log.

``opening`` goes from a file to its dialects; each dialect is a file and reads text or a project into a
``Reading``; ``merging`` puts what came out into a log. Nothing that a file holds is run.

Inside, arrows run one way: ``imported, scalars, jsontext, xmltree <- fields, keyed <- dialects <- texts <-
opening``; ``merging`` knows ``imported`` and the log alone.

Invariant: a value comes with the chunk that it stood in, and what is ambiguous is no value.
"""
