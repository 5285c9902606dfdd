"""What of a run must not be written down, and how it is blanked.

``policy`` is what a user decides, ``names`` which names are those of secrets, ``forms`` how one value
may stand in bytes, ``mask`` where it stands and what is put there, ``wires`` how secrets are known
by their place in what passes a connection, ``redaction`` one session's share of it all.

Invariant: what is blanked keeps its length, and blanking twice changes nothing more.
"""
