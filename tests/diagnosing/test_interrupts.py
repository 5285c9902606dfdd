"""An interrupt from the terminal is the parent's to act on."""

from __future__ import annotations

import os
import signal

from twice.recording.launch import ChildProcess


def test_a_child_of_a_diagnosis_leaves_interrupts_to_its_parent():
    with ChildProcess("twice.diagnosing", os.environ, cwd=None) as child:
        assert child.ask({"action": "zygote"})["kind"] == "zygote"
        os.kill(child.pid, signal.SIGINT)
        child.channel.close()
        assert child.wait() == 0
