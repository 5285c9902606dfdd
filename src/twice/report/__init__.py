"""Records as text, as JSON and as pages: nothing here executes a program or decides anything.

``values``, ``overview`` and ``moment`` serve the command line. ``record_pages`` and ``review_page``
fill the templates in ``templates/``; ``timeline`` counts what their pictures show.
"""
