"""Code that connects a program to its specification, generated from the facts in the sheets.

Lives here: what each layer generates, the facts it is made of, what a run would change, and the writing.
Findings of the checker come in from the command: this room does not read source code.

Inside, arrows run one way: ``reader <- values <- source``, ``reader <- lock <- source <- readiness <- plan``.

Invariant: no byte that a person wrote is lost, and what is generated follows from the sheets alone.
"""
