"""Ends by an exception whose type and message are always the same, and whose note and cause hold an address in decimal."""
def deep(thing):
    raise LookupError("not found")


def main():
    thing = object()
    try:
        deep(thing)
    except LookupError as error:
        error.add_note(f"while looking at {id(thing)}")
        raise RuntimeError("gave up") from error


main()
