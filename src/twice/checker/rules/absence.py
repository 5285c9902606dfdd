"""Names that rules about generators still ask for here."""

from twice.checker.analysis.seed_expressions import is_lazy, is_none_branch, none_test

__all__ = ["is_lazy", "is_none_branch", "none_test"]
