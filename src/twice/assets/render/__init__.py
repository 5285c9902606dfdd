"""Rendering under a log: a command recorded once, and a log's recipe run again and held against its promise."""
