"""One or two records as a page to look at: plain HTML, CSS and SVG in one file.

``gathering`` reads what the figures need from the logs, ``strips`` draws them, ``page`` is the
frame, ``one`` and ``two`` are the sections. Nothing is executed here; the diagnosis of two runs is
made elsewhere and handed in.

Invariant: the page asks nothing of any network, runs no script, and escapes all it did not write.
"""
