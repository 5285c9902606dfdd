from __future__ import annotations

from twice.foundation.channels import FACTS, Channel


def test_there_are_ten_channels_with_artifacts_02_to_11_in_order():
    assert [channel.artifact for channel in Channel] == [f"{n:02}" for n in range(2, 12)]
    assert list(FACTS) == list(Channel)


def test_every_channel_says_what_it_is_and_how_to_exclude_it():
    for channel in Channel:
        assert channel.facts.meaning.endswith(".")
        assert channel.facts.rule_out.endswith(".")
        assert channel.facts.sheet.endswith(".md")


def test_channels_are_written_as_the_reports_write_them():
    assert [str(channel) for channel in Channel] == [
        "seeds",
        "rng",
        "snapshot",
        "divergence",
        "replay",
        "concurrency",
        "floating-point",
        "gpu",
        "effects",
        "encoding",
    ]
