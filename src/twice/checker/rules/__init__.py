"""The rules, one file each: its docstring is its page, and the examples there are its tests.

A file binds ``RULE``. What several rules share stands in files without one.

Invariant: no rule names a project; it speaks of libraries that are in a catalogue, and of forms.
"""
