"""An import job that ends by an exception with a cause; what it did before stays."""
import contextlib
import json
import sys


class BadRow(ValueError):
    def __init__(self, number, reason):
        super().__init__(f"row {number}: {reason}")
        self.number = number


def parse(number, line):
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise BadRow(number, error.msg) from error


@contextlib.contextmanager
def journal(path):
    with open(path, "w") as file:
        try:
            yield lambda text: print(text, file=file)
        except Exception as error:
            file.write(f"stopped by {error}\n")
            raise
        finally:
            print("journal closed", file=sys.stderr)


rows = ['{"id": 1}', '{"id": 2, "who": "Ada"}', '{"id": 3,', '{"id": 4}']
with journal("import.log") as write:
    for number, line in enumerate(rows, 1):
        row = parse(number, line)
        write(sorted(row))
        print("imported", row["id"], flush=True)
