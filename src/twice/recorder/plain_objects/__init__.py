"""Objects of ordinary classes as state: read attribute by attribute, and put back in place.

An object whose class says nothing about its state is what its attributes hold, and so is every object that they
reach. Lives here: from live values to values with a canonical form (``reader``), and back into the objects that are
there (``writer``). Does not: which objects are components (``components``).

Not covered: state outside of the attributes, and what a closure holds besides numbers and texts.
``twice verify --restores`` shows what matters of it.

Invariant: putting back what was read changes nothing, and reading runs no code of the classes but a nested
``state()`` or ``state_dict()``.
"""
