"""Print a table of each day's water levels at the tide stations."""

import argparse
import sys
from datetime import datetime, timezone
from pathlib import Path

from checks import choose_spot_checks
from days import summarize_days
from readings import read_levels

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readings", type=Path, default=HERE / "readings.csv")
    parser.add_argument("--seed", type=int, default=41)
    options = parser.parse_args()
    print(f"started {datetime.now(timezone.utc):%H:%M:%S} UTC", file=sys.stderr)

    readings = read_levels(options.readings)
    days = summarize_days(readings)
    for day in days:
        print(
            f"{day.date} {day.station:9} n={day.count:3} low={day.low:.2f} high={day.high:.2f} "
            f"range={day.high - day.low:.2f}"
        )
    for day in choose_spot_checks(days, 3, options.seed):
        print(f"check by hand: {day.date} {day.station}")
    print(f"total {sum(day.count for day in days)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
