"""Code that uses twice, laid down from the facts of a specification and kept up to date.

Lives here: what each layer lays down (``layers``, ``templates/``), the facts it is made of, the plan of what
would change, the merge with what people wrote meanwhile, and the step that changes all of it or nothing.
Findings of the checker come in through a port: this room does not read source code.

Inside, arrows run one way: ``facts, regions, merging <- lock <- layers, planning <- applying <-
scaffold``.

Invariant: no byte that a person wrote is lost, and what is laid down follows from the sheets alone.
"""
