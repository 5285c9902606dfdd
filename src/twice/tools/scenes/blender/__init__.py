"""REAL BLENDER. The scene that tools act on when a session drives Blender, and how it is read.

Blender's module is imported when a scene is made, never when this room is. It prints on its own,
knows one scene at a time and does not bear threads, so a session that uses it is a process of its
own; see docs/guides/blender.md.

Invariant: data calls alone; where an operator must be used, its outcome is looked at.
"""
