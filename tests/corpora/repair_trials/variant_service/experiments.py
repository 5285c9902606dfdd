"""Running experiments, and the variant that a customer sees in each of them."""

from dataclasses import dataclass

SLOTS = 1000


@dataclass(frozen=True)
class Experiment:
    """An experiment with the share of customers that each variant gets.

    Attributes:
        name: as the reports call it.
        shares: variants with their shares, which add up to 1.
        discounts: what each variant takes off the price, as a share of it.
    """

    name: str
    shares: dict[str, float]
    discounts: dict[str, float]

    def slot_of(self, customer: str) -> int:
        """Spread customers over the slots, anew for each experiment."""
        return hash((self.name, customer)) % SLOTS

    def variant_for(self, customer: str) -> str:
        """Return the variant that a customer sees."""
        slot = self.slot_of(customer)
        upper = 0.0
        for variant, share in self.shares.items():
            upper += share * SLOTS
            if slot < upper:
                return variant
        return variant


def read_experiments(document: list[dict]) -> dict[str, Experiment]:
    """Return the experiments by the product that each is about."""
    return {
        row["product"]: Experiment(row["name"], row["shares"], row["discounts"])
        for row in document
    }
