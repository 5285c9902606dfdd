"""The smallest program of x86_64 that makes a file: no C library, no loader, nothing to preload into."""

from __future__ import annotations

from pathlib import Path


def write_static_program(path: Path) -> None:
    """Write an executable that makes the file which its first argument names, empty."""
    # mov rdi, [rsp+16] (argv[1]); mov esi, O_CREAT|O_WRONLY; mov edx, 0644; mov eax, 2 (open); syscall;
    # xor edi, edi; mov eax, 60 (exit); syscall
    code = bytes.fromhex("488b7c2410be41000000baa4010000b8020000000f0531ffb83c0000000f05")
    start = 0x400000
    header = bytes.fromhex("7f454c46020101000000000000000000" + "02003e0001000000")
    header += (start + 120).to_bytes(8, "little") + (64).to_bytes(8, "little") + bytes(8)
    header += bytes(4) + bytes.fromhex("4000380001000000000000" + "00")[:12]
    segment = bytes.fromhex("0100000005000000") + bytes(8)
    segment += start.to_bytes(8, "little") * 2 + (120 + len(code)).to_bytes(8, "little") * 2
    segment += (0x1000).to_bytes(8, "little")
    path.write_bytes(header.ljust(64, b"\0") + segment + code)
    path.chmod(0o755)
