"""Logs and verdicts in the formats of QuestFoundry, which asked for such logs first.

``gatecheck.py`` is its gate report, ``manifests.py`` its lists of assets and files. What its schemas forget to
ask is asked here.

Invariant: what players may see holds no technique: no seed, model, prompt, plugin or version.
"""
