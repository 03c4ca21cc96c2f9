"""Measures how often a study that stops by itself errs, and how many ratings it saves.

python -m benchmarks.stopping_by_rule [studies]

Four models, 400 dialogs, 4 raters, a look after each HIT's dialogs. Limits: false eliminations in at most 2.5 % of the
studies, any false claim in at most 5 %. With one model better by 15 points, the specification needed 26 % of the
ratings until it was found, 59 % with tastes of 5 %; ours are printed, and have no limit.
"""

import sys
from dataclasses import replace

from hits.stats.planned_stopping import simulate_stopping
from hits.stats.planned_study import Effects, Setting

STUDIES = 1000
LOOKS = 40  # one after each HIT
MOST_FALSE_ELIMINATIONS = 0.025
MOST_FALSE_CLAIMS = 0.05

USUAL = Setting(dialogs=400, raters=4, generators=4, dialogs_per_hit=10)
EQUAL = (0.0, 0.0, 0.0, 0.0)
ONE_BETTER = (0.0, 0.0, 0.0, 0.15)
ONE_WORSE = (0.0, 0.15, 0.15, 0.15)


def measure(studies: int = STUDIES) -> list[str]:
    """Print everything, and return the limits that are broken."""
    broken = []
    print(f"{studies:,} studies of each kind; 400 dialogs, 4 raters, 4 models, {LOOKS} looks, losers are dropped")
    for taste in (0.0, 0.05):
        setting = replace(USUAL, effects=Effects(taste=taste))
        for name, gains in (("all equal", EQUAL), ("one better by 15", ONE_BETTER), ("one worse by 15", ONE_WORSE)):
            found = simulate_stopping(setting, gains, studies, LOOKS)
            print(
                f"  taste {taste:3.0%}, {name:17} false eliminations {found.false_eliminations:.4f}, any false claim "
                f"{found.false_claims:.4f}, decided {found.decided:4.0%}, ratings {found.ratings:4.0%}, assignments "
                f"{found.assignments:4.0%}"
            )
            if found.false_eliminations > MOST_FALSE_ELIMINATIONS:
                broken.append(f"taste {taste:.0%}, {name}: false eliminations {found.false_eliminations:.4f}")
            if found.false_claims > MOST_FALSE_CLAIMS:
                broken.append(f"taste {taste:.0%}, {name}: false claims {found.false_claims:.4f}")
    return broken


if __name__ == "__main__":
    problems = measure(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
    print("\n".join(problems) or "All within their limits.")
    sys.exit(bool(problems))
