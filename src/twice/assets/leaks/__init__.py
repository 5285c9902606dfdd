"""What is published, looked through for traces of how it was made: in files, in files within them, and in pixels.

``scan`` takes files apart, ``decode`` undoes encodings of text, ``rules`` say what is a trace, ``known`` looks for a
project's own values, ``report`` says where it lies and what to do.

Invariant: prose is not accused: a rule names a form that technique takes, never a mere word.
"""
