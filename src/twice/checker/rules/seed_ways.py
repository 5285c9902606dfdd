"""Names that rules about generators still ask for here."""

from twice.checker.analysis.seeds import SeedReader as Ways
from twice.checker.analysis.seeds import found_at, is_record, place_of

__all__ = ["Ways", "found_at", "is_record", "place_of"]
