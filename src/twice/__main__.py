"""``python -m twice``: the command line."""

from twice.surfaces.cli import main

if __name__ == "__main__":
    main()
