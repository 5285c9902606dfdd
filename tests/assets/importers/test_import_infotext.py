"""Infotexts: quotes, hashes, prompts that look like parameters, and what cannot be told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from madefiles import USER_COMMENT, doubts, imported, picture, places, png

from twice.assets.importers.a1111 import split_pairs
from twice.assets.importers.result import Imported

TAIL = "Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: 42, Size: 512x768, Model: base"
FAKE = "Steps: 99, Sampler: DDIM, Seed: 7, Size: 64x64"
FULL = "0f" * 32
NOT_READ = "2 lines look like parameters"


def read(text: str) -> Imported:
    return imported(png(("parameters", text)))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (f"one\ntwo\nNegative prompt: three\nfour: five\n{TAIL}",
         {"/art/prompt": "one\ntwo", "/art/negative_prompt": "three\nfour: five"}),
        (f"a\n{FAKE}\nNegative prompt: {FAKE}\n{TAIL}",
         {"/art/prompt": f"a\n{FAKE}", "/art/negative_prompt": FAKE, "/seed/effective": "42", "/art/steps": 20}),
        (f"a sign:\r\nSteps: to heaven, Seed: 5\r\n{TAIL}",
         {"/art/prompt": "a sign:\nSteps: to heaven, Seed: 5", "/seed/effective": "42"}),
        (f"café\n{TAIL}", {"/art/prompt": "café"}),
        (f"a\n{TAIL}, Model hash: {FULL}", {"/model/sha256": FULL}),
        (f"a\n{TAIL}, VAE: Default (model)", {"/model/adapters": None}),  # as Fooocus writes it
        (f"a\n{TAIL.replace('42', str(2**64 - 1))}", {"/seed/effective": "18446744073709551615"}),
        (f"a\n{TAIL}, Batch size: 4, Batch pos: 2", {"/art/batch_size": 4, "/art/batch_index": 2}),
        (f"a\n{TAIL}, Hires steps: 12, Hires sampler: DDIM", {"/art/steps": 20, "/art/sampler": "Euler a"}),
        (f'a\n{TAIL}, ControlNet 0: "Module: canny, Model: control [d14c016b]"', {"/model/name": "base"}),
    ],
)  # fmt: skip
def test_an_infotext_says_this(text: str, values: dict[str, Any]) -> None:
    found = read(text)

    assert {at: found.values.get(at) for at in values} == values
    assert (found.ambiguities, found.not_understood) == ((), ())


@pytest.mark.parametrize(
    ("said", "key", "kept"),
    [
        ('ControlNet 0: "Module: canny, Model: x [d1], Weight: 1"', "ControlNet 0", "Module: canny, Model: x [d1], Weight: 1"),
        ("Model hash: 7460a6fa01", "Model hash", "7460a6fa01"),
        ("Hires steps: 12", "Hires steps", 12),
        ('Lora hashes: "film: BA9876543210"', "Lora hashes/film", "ba9876543210"),
        ("Version: ComfyUI", "Version", "ComfyUI"),
        ("Tiling", "Tiling", True),
        ("Eta: 0.5\nTemplate: a {lamp|torch}", "after the parameters", "Template: a {lamp|torch}"),
    ],
)  # fmt: skip
def test_what_is_not_the_first_pass_is_kept_by_its_key(said: str, key: str, kept: Any) -> None:
    assert read(f"a lamp\n{TAIL}, {said}").other["tEXt parameters"][key] == kept


def test_networks_of_the_prompt_meet_their_hashes() -> None:
    found = read(
        f"a lamp <lora:noir:0.8> <lora:film:-0.25> <hypernet:old>\n{TAIL}, "
        f'Lora hashes: "noir: {FULL}, film: ba9876543210", VAE: ft, VAE hash: 735e4c3a44'
    )

    assert found.values["/model/adapters"] == [
        {"kind": "lora", "name": "noir", "sha256": FULL, "weight": 0.8},
        {"kind": "lora", "name": "film", "weight": -0.25},
        {"kind": "other", "name": "old", "weight": 1},
        {"kind": "vae", "name": "ft"},
    ]


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        (f"one\nNegative prompt: two\nNegative prompt: three\n{TAIL}",
         {"/art/prompt": ("one", "one\nNegative prompt: two"),
          "/art/negative_prompt": ("two\nNegative prompt: three", "three")}),
        (f"a\n{TAIL}, Seed: 43, Model: other", {"/seed/effective": ("42", "43"), "/model/name": ("base", "other")}),
        (f"a\n{TAIL}, Size: 64x768", {"/art/width_px": (512, 64)}),
        *((f"a\nSteps: 2, Sampler: x, Seed: {seed}, Size: 8x8", {"/seed/effective": ()})
          for seed in ("-1", "random", "1.5", "", str(2**64), "9" * 400, "\uff11\uff12")),
    ],
)  # fmt: skip
def test_what_can_be_read_in_two_ways_is_open(text: str, candidates: dict[str, Any]) -> None:
    found = read(text)

    assert doubts(found) == candidates
    assert not set(candidates) & set(found.values)


@pytest.mark.parametrize(
    ("text", "place", "pointer"),
    [
        ("a\nSteps: 0, Sampler: Euler, Seed: 1", "Steps: ", "/art/steps"),
        (f"a\n{TAIL.replace('scale: 7', 'scale: inf')}", "CFG scale: ", "/art/guidance"),
        (f"a\n{TAIL.replace('scale: 7', 'scale: -3')}", "CFG scale: ", "/art/guidance"),
        (f"a\n{TAIL}, Denoising strength: 1.5", "Denoising strength: ", "/art/denoise"),
        (f"a\n{TAIL}, Clip skip: two", "Clip skip: ", "/art/settings/clip_skip"),
        (f'a\n{TAIL}, Styles: "never ends, Clip skip: 2', "Styles: its quotes do not end", ""),
        (f"a\n{TAIL}, Batch size: 4", "its position is not said", "/art/batch_index"),
        (f"a\n{TAIL}, Model hash: nonsense", "hashes: 'Model hash: nonsense' is not", "/model/sha256"),
        (f"a\n{TAIL}\n{TAIL}\nTemplate: x", NOT_READ, "/seed/effective"),
        (f"a\n{TAIL}\nSteps: 99, Seed: 4", NOT_READ, "/seed/effective"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_named_and_not_taken(text: str, place: str, pointer: str) -> None:
    found = read(text)

    assert place in places(found)
    assert pointer not in found.values


@pytest.mark.parametrize(
    ("version", "generator"),
    [("v1.9.4", "AUTOMATIC1111"), ("f2.0.1v1.10.1-previous-664", "Forge"), ("ComfyUI", "infotext")],
)
def test_a_version_names_the_program_or_nothing_does(version: str, generator: str) -> None:
    found = read(f"a lamp\n{TAIL}, Module 1: ae, Version: {version}")

    assert (found.generator, found.generator_version) == (generator, version)
    assert found.values.get("/provider/name", "infotext") == generator


@pytest.mark.parametrize("form", ["JPEG", "WEBP", "AVIF"])
@pytest.mark.parametrize(
    ("head", "codec"),
    [("UNICODE", "utf-16-be"), ("UNICODE", "utf-16-le"), ("UNICODE", "utf-16"), ("ASCII\0\0", "utf-8")],
)  # fmt: skip
def test_a_user_comment_is_read_in_every_coding(form: str, head: str, codec: str) -> None:
    said = f"{head}\0".encode() + f"雨 lamp\nNegative prompt: x\n{TAIL}".encode(codec)
    found = imported(picture(form, {USER_COMMENT: said}))

    assert (found.values["/art/prompt"], found.values["/seed/effective"]) == ("雨 lamp", "42")
    assert found.evidence["/seed/effective"].chunk == "Exif UserComment"


@pytest.mark.parametrize(
    ("head", "steps"), [("a lamp", 20), ("<?xml version='1.0'?><a>", None), ("<html>", None), ("<!DOCTYPE html>", None)]
)  # fmt: skip
def test_an_infotext_beside_its_picture_is_read_and_a_page_that_quotes_one_is_not(
    head: str, steps: int | None
) -> None:
    assert imported(f"{head}\n{TAIL}\n".encode()).values.get("/art/steps") == steps


def test_two_chunks_agree_or_are_ambiguous() -> None:
    other = TAIL.replace("42", "43")
    batch = imported(
        png(("parameters", f"a\n{TAIL}, Batch size: 4, Batch pos: 1"), ("parameters", f"a\n{TAIL}"))
    )
    found = imported(png(("parameters", f"a\n{TAIL}"), ("parameters", f"a\n{other}")))

    assert batch.values["/art/batch_size"] == 4
    assert doubts(found) == {"/seed/effective": ("42", "43")}


VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1)


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_whatever_the_writer_quotes_comes_back(values: list[str]) -> None:
    line = ", ".join(f"Key {at}: {json.dumps(value)}" for at, value in enumerate(values))

    assert list(split_pairs(line)) == [(f"Key {at}", each, "") for at, each in enumerate(values)]


@given(st.text())
def test_any_text_ends_in_a_reading(text: str) -> None:
    found = read(f"{text}\n{TAIL}")

    assert found.values or found.ambiguities or found.not_understood
