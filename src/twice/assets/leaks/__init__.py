"""What is published, looked through for traces of how it was made: in files, in files within them, and in pixels.

``scanning`` takes files apart and hands their parts on, ``texts`` undoes encodings, ``rules`` say what is a trace,
``known`` looks for a project's own values, ``reporting`` says where it lies and what to do.

Invariant: prose is not accused: a rule names a form that technique takes, never a mere word.
"""
