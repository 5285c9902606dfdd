"""Keep secrets out of records: find them, and put stars in their place.

``policy`` has the user's decisions, ``secret_names`` judges names, ``shapes`` and ``fields`` find secrets by their form
and by their place, ``mask`` finds known values and blanks, ``streams`` does so piece by piece. ``redaction`` is one
session's share of it all.

Invariant: what is blanked keeps its length, and blanking twice changes nothing more.
"""
