"""Infotexts: quotes, hashes, prompts that look like parameters, and what cannot be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from madefiles import doubts, imported, jpeg, places, png, riff, user_comment

from twice.assets.importers.imported import Imported
from twice.assets.importers.infotext import tokens

TAIL = "Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: 42, Size: 512x768, Model: base"


def read(text: str) -> Imported:
    return imported(png(("parameters", text)))


def test_a_quoted_control_net_never_becomes_the_model() -> None:
    unit = '"Module: canny, Model: control_canny [d14c016b], Weight: 1, Processor Res: 512"'
    found = read(
        f"a lamp\nSteps: 20, Seed: 1, Model hash: 7460a6fa01, ControlNet 0: {unit}, Model: base"
    )

    assert found.values["/model/name"] == "base"
    assert found.other["tEXt parameters"]["ControlNet 0"] == (
        "Module: canny, Model: control_canny [d14c016b], Weight: 1, Processor Res: 512"
    )
    assert found.other["tEXt parameters"]["Model hash"] == "7460a6fa01"


def test_escapes_in_quotes_are_those_of_json() -> None:
    (row,) = tokens('Styles: "say \\"hi\\", then\\nleave: é"')

    assert row == ("Styles", 'say "hi", then\nleave: é', "")


def test_networks_of_the_prompt_meet_their_hashes() -> None:
    digest = "ab" * 32
    found = read(
        f"a lamp <lora:noir:0.8> <lora:film:-0.25> <hypernet:old>\n{TAIL}, "
        f'Lora hashes: "noir: {digest}, film: ba9876543210"'
    )

    assert found.values["/model/adapters"] == [
        {"kind": "lora", "name": "noir", "sha256": digest, "weight": 0.8},
        {"kind": "lora", "name": "film", "weight": -0.25},
        {"kind": "other", "name": "old", "weight": 1},
    ]
    assert found.other["tEXt parameters"]["Lora hashes/film"] == "ba9876543210"


def test_a_full_hash_of_the_model_is_its_sha256() -> None:
    digest = "0f" * 32

    assert read(f"a\n{TAIL}, Model hash: {digest}").values["/model/sha256"] == digest


def test_parameters_inside_a_prompt_stay_in_the_prompt() -> None:
    inner = "Steps: 99, Sampler: DDIM, Seed: 7, Size: 64x64"
    found = read(f"a lamp\n{inner}\nNegative prompt: {inner}\n{TAIL}")

    assert found.values["/art/prompt"] == f"a lamp\n{inner}"
    assert found.values["/art/negative_prompt"] == inner
    assert (found.values["/art/steps"], found.values["/seed/effective"]) == (20, "42")


def test_a_negative_prompt_has_any_number_of_lines() -> None:
    found = read(f"one\ntwo\nNegative prompt: three\nfour: five\n{TAIL}")

    assert found.values["/art/prompt"] == "one\ntwo"
    assert found.values["/art/negative_prompt"] == "three\nfour: five"


def test_two_lines_of_negative_prompt_are_ambiguous() -> None:
    found = read(f"one\nNegative prompt: two\nNegative prompt: three\n{TAIL}")

    assert doubts(found) == {
        "/art/prompt": ("one", "one\nNegative prompt: two"),
        "/art/negative_prompt": ("two\nNegative prompt: three", "three"),
    }
    assert found.values["/seed/effective"] == "42"


def test_lines_that_extensions_add_after_the_parameters_are_kept() -> None:
    found = read(f"a lamp\n{TAIL}\nTemplate: a {{lamp|torch}}")

    assert found.values["/art/prompt"] == "a lamp"
    assert found.other["tEXt parameters"]["after the parameters"] == "Template: a {lamp|torch}"


def test_two_lines_of_parameters_before_a_third_are_refused() -> None:
    found = read(f"a lamp\n{TAIL}\n{TAIL}\nTemplate: x")

    assert found.values == {}
    assert "2 lines look like parameters" in places(found)


@pytest.mark.parametrize("seed", ["-1", "random", "1.5", "", str(2**64), "9" * 400, "\uff11\uff12"])
def test_a_seed_that_says_nothing_is_open(seed: str) -> None:
    found = read(f"a lamp\nSteps: 20, Sampler: Euler, Seed: {seed}, Size: 64x64")

    assert doubts(found) == {"/seed/effective": ()}
    assert "/seed/effective" not in found.values


def test_the_largest_seed_keeps_its_last_digit() -> None:
    text = TAIL.replace("Seed: 42", f"Seed: {2**64 - 1}")

    assert read(f"a\n{text}").values["/seed/effective"] == "18446744073709551615"


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ("Steps: 0", "/art/steps"), ("CFG scale: inf", "/art/guidance"), ("CFG scale: -3", "/art/guidance"),
        ("Denoising strength: 1.5", "/art/denoise"), ("Clip skip: two", "/art/settings/clip_skip"),
    ],
)  # fmt: skip
def test_impossible_values_are_named_and_not_taken(said: str, pointer: str) -> None:
    key = said.partition(":")[0]
    rest = "" if key == "Steps" else "Steps: 20, "
    found = read(f"a lamp\n{rest}{said}, Sampler: Euler, Seed: 1")

    assert pointer not in found.values
    assert f"{key}: " in places(found)


def test_a_key_that_comes_twice_with_two_values_is_ambiguous() -> None:
    found = read(f"a lamp\n{TAIL}, Seed: 43, Model: other, Size: 64x64")

    assert doubts(found) == {"/seed/effective": ("42", "43"), "/model/name": ("base", "other")}
    assert "Size: Size is there 2 times" in places(found)


def test_quotes_that_do_not_end_are_named_and_the_next_pair_is_read() -> None:
    found = read(f'a lamp\n{TAIL}, Styles: "never ends, Clip skip: 2')

    assert "Styles: its quotes do not end" in places(found)
    assert found.values["/art/settings/clip_skip"] == 2


def test_a_hires_pass_is_not_the_first_pass() -> None:
    found = read(
        f"a\n{TAIL}, Denoising strength: 0.4, Hires steps: 12, Hires sampler: DDIM, Hires upscale: 2"
    )

    assert (found.values["/art/steps"], found.values["/art/sampler"]) == (20, "Euler a")
    assert found.other["tEXt parameters"]["Hires steps"] == 12


def test_a_batch_without_position_is_named() -> None:
    placed = read(f"a\n{TAIL}, Batch size: 4, Batch pos: 2")

    assert (placed.values["/art/batch_size"], placed.values["/art/batch_index"]) == (4, 2)
    assert "position is not said" in places(read(f"a\n{TAIL}, Batch size: 4"))


def test_forge_is_known_by_its_version() -> None:
    found = read(f"a lamp\n{TAIL}, Module 1: ae, Version: f2.0.1v1.10.1-previous-664")

    assert (found.generator, found.values["/provider/name"]) == ("Forge", "Forge")
    assert found.generator_version == "f2.0.1v1.10.1-previous-664"


def test_another_programs_version_does_not_name_automatic1111() -> None:
    found = read(f"a lamp\n{TAIL}, Version: ComfyUI")

    assert (found.generator, "/provider/name" in found.values) == ("infotext", False)


@pytest.mark.parametrize("big", [True, False])
@pytest.mark.parametrize("form", ["jpeg", "webp"])
def test_a_user_comment_is_read_in_both_byte_orders(big: bool, form: str) -> None:
    exif = user_comment(f"雨 lamp\nNegative prompt: x\n{TAIL}", big=big)
    found = imported(jpeg(exif) if form == "jpeg" else riff(b"WEBP", (b"EXIF", exif)))

    assert found.values["/art/prompt"] == "雨 lamp"
    assert found.values["/seed/effective"] == "42"
    assert found.evidence["/seed/effective"].chunk.endswith("UserComment")


def test_a_user_comment_in_ascii_is_read() -> None:
    exif = user_comment(f"lamp\n{TAIL}", big=False, head=b"ASCII\0\0\0")

    assert imported(jpeg(exif)).values["/seed/effective"] == "42"


def test_an_accented_prompt_in_latin_1_is_read_as_the_standard_says() -> None:
    assert read(f"café\n{TAIL}").values["/art/prompt"] == "café"


def test_an_infotext_beside_its_picture_is_read() -> None:
    found = imported(f"a lamp\n{TAIL}\n".encode())

    assert (found.values["/art/steps"], found.evidence["/art/steps"].chunk) == (20, "text")


def test_two_chunks_that_differ_are_ambiguous() -> None:
    found = imported(
        png(("parameters", f"a\n{TAIL}"), ("parameters", f"a\n{TAIL.replace('42', '43')}"))
    )

    assert doubts(found) == {"/seed/effective": ("42", "43")}
    assert "/seed/effective" not in found.evidence


VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1)


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_whatever_the_writer_quotes_comes_back(values: list[str]) -> None:
    import json

    line = ", ".join(f"Key {at}: {json.dumps(value)}" for at, value in enumerate(values))

    assert list(tokens(line)) == [(f"Key {at}", value, "") for at, value in enumerate(values)]


@given(st.text())
def test_any_text_ends_in_a_reading(text: str) -> None:
    found = read(f"{text}\n{TAIL}")

    assert found.values or found.ambiguities or found.not_understood
