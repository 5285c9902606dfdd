"""The network: connections that a run makes, recorded at Python's sockets and replayed without one.

``sockets`` replaces the methods of ``socket.socket``, ``tls`` those of ``ssl`` on top, ``resolver`` look-ups of names.
``connection`` is one connection while recording, ``replayed_connection`` the same in replay, ``sent_bytes`` the marks
of both, ``connections`` the table of sockets.
"""
