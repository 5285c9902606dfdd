"""Following a value, or the order of a collection, to where it ends.

``values`` follows what something is (a clock's time, a digest); ``order`` follows in which order
something comes (a set made into a list); ``loops`` says whether a loop's body minds its order. A
value is followed through names, attributes of ``self``, containers and functions of the same file.

Invariant: what was not followed to its end is ``UNSEEN``, never harmless.
"""
