"""The consistency gate: seventeen checks of a specification, against evidence that is made by running.

Inside, arrows run one way: ``plan <- evidence <- model <- checks, waivers, report <- runner``. Making evidence
runs programs; everything else is pure. Which commands print it does not belong here.

Invariant: what could not be evaluated is blocked, never a pass; the report holds no clock and no place
of this machine, so equal evidence gives equal bytes.
"""
