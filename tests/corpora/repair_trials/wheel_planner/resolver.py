"""Dependencies first: the order in which packages are installed."""

from index import PackageIndex


class DependencyCycle(Exception):
    """Packages that need each other."""


def collect_wanted(index: PackageIndex, roots: list[str]) -> set[str]:
    """Return the roots and everything that they need, directly or not."""
    wanted: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting.extend(index.needs(name))
    return wanted


def install_order(index: PackageIndex, roots: list[str]) -> list[str]:
    """Return all wanted packages, each one after the packages that it needs."""
    wanted = collect_wanted(index, roots)
    missing = {name: set(index.needs(name)) for name in wanted}
    ready = {name for name in wanted if not missing[name]}

    order: list[str] = []
    while ready:
        name = ready.pop()
        order.append(name)
        for other, needs in missing.items():
            if name in needs:
                needs.remove(name)
                if not needs:
                    ready.add(other)
    if len(order) < len(wanted):
        raise DependencyCycle(", ".join(sorted(wanted - set(order))))
    return order
