"""The consistency gate: seventeen checks of a specification, against evidence that is made by running.

Lives here: what a check is and what it comes to (``check``, ``outcome``), facts as values (``evidence``,
``plan``, ``facts``), how each kind of evidence is made (``gathering``), the checks (``checks``), waivers,
and the report. Which commands print it does not.

Inside, arrows run one way: ``outcome, evidence, plan <- facts <- check <- checks, gathering <- waiving,
judging <- report <- gate``. Gathering runs programs; everything else is pure.

Invariant: what could not be evaluated is blocked, never a pass; the report holds no clock and no place
of this machine, so equal evidence gives equal bytes.
"""
