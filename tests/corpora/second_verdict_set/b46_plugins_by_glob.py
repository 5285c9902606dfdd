"""Filters are found in a folder and loaded by path; one of them is edited later."""
import importlib.util
from pathlib import Path

here = Path(__file__).parent


def plugins(folder):
    for path in sorted(folder.glob("*_filter.py")):
        spec = importlib.util.spec_from_file_location(f"filters.{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield path.stem, module.apply


values = list(range(1, 8))
for name, apply in plugins(here / "plugins"):
    values = [apply(v) for v in values]
    print(f"{name:16s}", values)
print("sum", sum(values))
