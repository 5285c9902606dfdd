"""What each rule of determinism costs on a program: rule on against rule off, one at a time.

Lives here: the rules and how each is switched off (``rules``), the process of one run (``__main__``), rounds of
such runs (``measurement``), and the figures with their judgement (``result``).

Invariant: a figure comes from runs that were made; a rule that could not be switched off here, or whose
switch had no effect, has a reason instead of a figure.
"""
