"""Assets: what made them, whether they can be made again, and that nothing of it is published.

  twice asset init hot --public public
  twice asset import cover.png --json
  twice asset seal hot/cover.png --log cover.json
  twice asset gate hot
  twice asset leaks build/
  twice asset scrub master.png -o public/cover.png

A log fills itself where the rendering is a run: see twice asset record --help.
Exit code 0 it holds, 1 something is missing, differs or leaks, 2 could not tell or wrong use.
"""

from __future__ import annotations

from typing import Final

from twice.cli.group import Group

ACTIONS: Final = {
    "init": ("store:init_store", "make a folder a hot store, apart from what is published"),
    "record": ("record:command", "render in a clean folder, and let the run fill the log"),
    "import": ("logs:import_file", "read what generators and workstations embed, into a log"),
    "seal": ("store:seal_asset", "measure an asset, and put its log beside it"),
    "show": ("logs:show_asset", "say what is known of an asset, or print a draft to fill in"),
    "verify": ("gate:verify_logs", "compare every log with its file, byte by byte"),
    "gate": ("gate:gate_assets", "judge whether logs are complete, consistent and true, for one asset or a build"),
    "rerender": ("rerender:rerender_assets", "render again from logs, and compare at the promised grade"),
    "calibrate": ("rerender:calibrate_renderer", "find limits for a tolerance from repeated renderings"),
    "diff": ("logs:diff_logs", "compare two logs: what would a rendering change?"),
    "package": ("store:package_logs", "write a work unit's checkpoint, and copies of its logs to travel"),
    "export": ("gate:export_verdicts", "write verdicts and manifests in the formats of QuestFoundry"),
    "leaks": ("leaks:find_leaks", "look through what is published for traces of how it was made"),
    "scrub": ("leaks:scrub_asset", "write a copy that holds only its payload, and prove that"),
}  # fmt: skip
command = Group(__name__, ACTIONS, help=__doc__, no_args_is_help=False)
