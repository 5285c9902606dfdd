"""Digests carry their label, agree with the published answers, and are the right length."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from twice.errors import DigestRefused
from twice.foundation.digests import (
    Algorithm,
    Digest,
    digest_bytes,
    digest_parts,
    digest_value,
    new_hasher,
    raw_digest,
    short_digest,
)
from twice.foundation.encoding import encode

# Of the empty input; from the BLAKE3 paper's test vectors, FIPS 180-4 and the xxHash sanity checks.
EMPTY = {
    Algorithm.BLAKE3: "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
    Algorithm.SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    Algorithm.XXH3_128: "99aa06d3014798d86001c324468d497f",
}


@pytest.mark.parametrize("algorithm", Algorithm)
def test_the_empty_input_has_its_published_digest(algorithm: Algorithm) -> None:
    assert str(digest_bytes(b"", algorithm)) == f"{algorithm}:{EMPTY[algorithm]}"


@pytest.mark.parametrize("algorithm", Algorithm)
def test_every_way_to_a_digest_agrees(algorithm: Algorithm) -> None:
    data = bytes(range(256)) * 40
    whole = digest_bytes(data, algorithm)
    hasher = new_hasher(algorithm)
    hasher.update(data[:100])
    hasher.update(memoryview(data)[100:])
    assert hasher.digest() == whole.raw == raw_digest(algorithm)(bytearray(data))
    assert digest_parts([data[:7], memoryview(data)[7:]], algorithm) == whole
    assert short_digest(algorithm)(memoryview(data)) == whole.raw[:16]
    assert len(whole.raw) == algorithm.size


@pytest.mark.parametrize("algorithm", Algorithm)
def test_a_value_has_the_digest_of_its_canonical_form(algorithm: Algorithm) -> None:
    value = {"a": np.arange(10_000.0), "b": [1, {2}], "c": bytes(9000)}
    assert digest_value(value, algorithm) == digest_bytes(encode(value), algorithm)


@pytest.mark.parametrize("algorithm", Algorithm)
def test_a_digest_reads_back_from_its_text(algorithm: Algorithm) -> None:
    digest = digest_bytes(b"x", algorithm)
    assert Digest.parse(str(digest)) == digest
    assert str(digest) == f"{algorithm.value}:{digest.hex}"


@pytest.mark.parametrize(
    "text",
    ["", "blake3", "blake3:", "md5:00", "blake3:00", "sha256:" + "g" * 64, "sha256:" + "A" * 64,
     "xxh3_128:" + "0" * 64, "blake3:" + "0" * 63 + " ", " blake3:" + "0" * 64],
)  # fmt: skip
def test_what_is_not_a_labelled_digest_is_refused(text: str) -> None:
    with pytest.raises(DigestRefused):
        Digest.parse(text)


def test_a_digest_of_the_wrong_length_cannot_be_made() -> None:
    with pytest.raises(DigestRefused):
        Digest(Algorithm.SHA256, bytes(16))


def test_only_xxh3_is_not_cryptographic() -> None:
    assert [each for each in Algorithm if not each.is_cryptographic] == [Algorithm.XXH3_128]


@pytest.mark.integration
def test_hash_libraries_are_imported_when_asked_for() -> None:
    code = "import sys, twice.foundation.digests; sys.exit('blake3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == 0


def test_sha256_is_the_one_of_the_standard_library() -> None:
    assert digest_bytes(b"abc", Algorithm.SHA256).raw == hashlib.sha256(b"abc").digest()
