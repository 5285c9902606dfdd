"""The forms in which findings are written: one file each, with ``render(report) -> text``.

Each is imported when it is asked for, so that a quick check stays quick.

Invariant: a form is a function of the report; it holds no time, no host and no absolute path.
"""
