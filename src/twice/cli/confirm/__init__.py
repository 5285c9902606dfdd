"""Findings of the checker, held beside runs of a program."""
