"""The network: connections that a run makes, recorded at Python's sockets and played without one.

``sockets`` stands for ``socket.socket``'s methods, ``tls`` for what ``ssl`` puts on top, ``resolving``
for names. ``connection`` is one connection while recording, ``played`` the same in replay,
``outgoing`` what both say about the bytes that the program sent, ``connections`` who has which.
"""
