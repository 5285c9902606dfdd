"""A log whose record is written in two pieces: a full disk leaves half of one, which is read as the whole."""

from twice.schedules import fault

log = bytearray()


def append(data: bytes) -> None:
    if fault("disk-full"):
        raise OSError(28, "No space left on device")
    log.extend(data)


def add(record: str) -> bool:
    try:
        append(record.encode())
        append(b"\n")
    except OSError:
        return False
    return True


async def main() -> None:
    log.clear()
    kept = [record for record in ("a=1", "b=2", "c=3") if add(record)]
    assert log.decode().splitlines() == kept, (log, kept)
