"""The cold copy: a file with its payload and what decoding needs, and nothing that is said about it.

``scrubbing`` chooses by container, proves that the payload stayed, and looks at what is left; the other modules say what
is kept of each container. Colour profiles and orientation stay, since a picture looks different without them.

Invariant: no copy leaves here whose payload differs from its original's by one bit.
"""
