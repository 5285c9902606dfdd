"""What each rule of determinism costs on a program: measured by switching it off, one at a time.

Lives here: the rules that can be switched off and those that cannot (``rules``), a run as it is made
with some of them (``making``), the process that makes it (``measuring``), rounds of such processes
(``rounds``), the figures (``figures``), what they come to (``cost``), and how they get into a
specification (``evidence``).

Invariant: a figure comes from runs that were made; a rule that could not be switched off here, or whose
switch had no effect, has a reason instead of a figure.
"""
