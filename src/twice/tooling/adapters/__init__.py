"""What tools act on, and how they are reached: scenes, Blender, hosts.

Invariant: importing a module of this room imports no optional library.
"""
