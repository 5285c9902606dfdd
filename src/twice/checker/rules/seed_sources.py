"""Names that rules about generators still ask for here."""

from twice.checker.analysis.seed_facts import gather

__all__ = ["gather"]
