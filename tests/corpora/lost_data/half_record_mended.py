"""The same log, which takes back what it could not write whole."""

from twice.schedules import fault

log = bytearray()


def append(data: bytes) -> None:
    if fault("disk-full"):
        raise OSError(28, "No space left on device")
    log.extend(data)


def add(record: str) -> bool:
    size = len(log)
    try:
        append(record.encode())
        append(b"\n")
    except OSError:
        del log[size:]
        return False
    return True


async def main() -> None:
    log.clear()
    kept = [record for record in ("a=1", "b=2", "c=3") if add(record)]
    assert log.decode().splitlines() == kept, (log, kept)
