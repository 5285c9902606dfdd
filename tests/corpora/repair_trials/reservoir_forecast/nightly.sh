#!/bin/sh
# Run by the scheduler at 02:00; the forecast goes to the notice board.
cd "$(dirname "$0")" || exit 1
exec python main.py --settings settings/nightly.json
