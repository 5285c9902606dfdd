"""The package index: which versions there are, and what each package needs."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """One package with all its published versions."""

    name: str
    versions: tuple[str, ...]
    needs: tuple[str, ...]
    licence: str
    kilobytes: int


class PackageIndex:
    """Packages by name."""

    def __init__(self, packages: dict[str, Package]) -> None:
        self._packages = packages

    @classmethod
    def read(cls, path: Path) -> "PackageIndex":
        """Read an index as the mirror publishes it."""
        rows = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            {
                row["name"]: Package(
                    row["name"],
                    tuple(row["versions"]),
                    tuple(row["needs"]),
                    row["licence"],
                    row["kilobytes"],
                )
                for row in rows
            }
        )

    def needs(self, name: str) -> tuple[str, ...]:
        """Return the direct dependencies of a package."""
        return self._packages[name].needs

    def newest(self, name: str) -> str:
        """Return the newest version, compared number by number."""
        return max(self._packages[name].versions, key=_as_numbers)

    def size(self, name: str) -> int:
        """Return the size of the newest version in kilobytes."""
        return self._packages[name].kilobytes

    def licences(self, names: list[str]) -> list[str]:
        """Return each licence once, for the notice file."""
        return sorted({self._packages[name].licence for name in names})


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
