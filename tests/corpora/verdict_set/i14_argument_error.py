"""A command line with sub-commands that is called with a wrong value: usage to the errors, exit code 2."""
import argparse
import atexit
import sys

atexit.register(lambda: print("left by way of", sys.exc_info()[0]))
parser = argparse.ArgumentParser(description="Counts.", epilog="Width follows the terminal, and long help is folded to it as the terminal asks for.")
commands = parser.add_subparsers(dest="command", required=True)
count = commands.add_parser("count", help="count things")
count.add_argument("--number", type=int, metavar="N", choices=range(1, 5), default=3)
count.add_argument("--mode", choices=["fast", "slow"])
count.add_argument("names", nargs="*")
print(parser.parse_args(["count", "a", "b"]))
parser.print_help()
print(parser.parse_args())
