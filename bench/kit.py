"""What the testing kits cost: prints the table of docs/internals/performance.md ("The testing kits").

    python bench/kit.py                    both languages
    python bench/kit.py --rounds 50        a quicker look

Seconds are of the wall's clock and of the CPU, the median of the rounds, in one process that is warm (the tables say
which). The aims are those that the kits were made for.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PY = ROOT / ".venv" / "bin" / "python"
STACKS = 200
LIVES = 1000


@dataclass(frozen=True)
class Measure:
    """Seconds of the wall's clock and of the CPU."""

    wall: float
    cpu: float


@contextmanager
def measured(into: list[Measure]) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    into.append(Measure(time.perf_counter() - wall, time.process_time() - cpu))


def median(measures: list[Measure]) -> Measure:
    return Measure(statistics.median(m.wall for m in measures), statistics.median(m.cpu for m in measures))


def lifecycles(rounds: int, settle: bool) -> Measure:
    """New stack, `up`, `up` without changes, preview, destroy, of one resource."""
    sys.path.insert(0, str(ROOT / "python-tests" / "testing_kit"))
    from maloko.testing import Kit

    good, cloud = _good()
    out: list[Measure] = []
    for _ in range(rounds):
        with measured(out):
            kit = Kit()
            s = kit.stack(good(cloud()), inputs={"name": "a", "colour": "red"})
            s.up(settle=settle)
            s.up(settle=settle)
            s.preview()
            s.destroy()
            kit.close()
    return median(out[rounds // 10 :])


def _good() -> tuple[Callable[..., Any], Callable[[], Any]]:
    from law_breakers import Cloud, Good

    return Good, Cloud


def verdict() -> Measure:
    """All laws, on a provider whose service is in memory."""
    good, cloud = _good()
    from law_breakers import EXAMPLES

    from maloko.testing import ProviderLaws

    laws = type("Laws", (ProviderLaws,), {"provider": good, "world": cloud, "inputs": EXAMPLES})
    out: list[Measure] = []
    with measured(out):
        laws.verdicts()
    return out[0]


def lives() -> Measure:
    """Lifecycles of a provider, as Hypothesis draws them."""
    from hypothesis import settings
    from hypothesis.stateful import run_state_machine_as_test
    from law_breakers import EXAMPLES

    from maloko.testing import lifecycle_machine

    good, cloud = _good()
    machine = lifecycle_machine(good, inputs=EXAMPLES, world=cloud)
    out: list[Measure] = []
    with measured(out):
        # The kit's own settings, as an author's test has them, but for the number.
        run_state_machine_as_test(machine, settings=settings(machine.TestCase.settings, max_examples=LIVES))
    return out[0]


def plugin() -> Measure:
    """What the plugin adds to a run of pytest that does not use it; seconds of the wall's clock and of the CPU."""
    differences: list[Measure] = []
    with tempfile.TemporaryDirectory(prefix="maloko-bench-") as folder:
        Path(folder, "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        command = [str(PY), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        for _ in range(9):
            costs = []
            for arguments in (["-p", "no:maloko"], []):
                begin, used = time.perf_counter(), os.times()
                subprocess.run([*command, *arguments], cwd=folder, check=True, capture_output=True)
                now = os.times()
                cpu = now.children_user + now.children_system - used.children_user - used.children_system
                costs.append(Measure(time.perf_counter() - begin, cpu))
            differences.append(Measure(costs[1].wall - costs[0].wall, costs[1].cpu - costs[0].cpu))
    return median(differences)


def python(rounds: int) -> dict[str, Measure]:
    sys.path.insert(0, str(ROOT / "python-tests" / "testing_kit"))
    plain = lifecycles(rounds, settle=False)
    return {
        "lifecycle": plain,
        "settled": lifecycles(rounds, settle=True),
        "stacks": Measure(plain.wall * STACKS, plain.cpu * STACKS),
        "laws": verdict(),
        "lives": lives(),
        "plugin": plugin(),
    }


def node(rounds: int) -> dict[str, Measure]:
    done = subprocess.run(
        ["node", str(ROOT / "bench" / "kit.cjs"), str(rounds), str(LIVES)],
        cwd=ROOT / "node-tests",
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    found = {name: Measure(*values) for name, values in json.loads(done.stdout.splitlines()[-1]).items()}
    found["stacks"] = Measure(found["lifecycle"].wall * STACKS, found["lifecycle"].cpu * STACKS)
    return found


ROWS = {
    "lifecycle": ("one resource: new stack, `up`, no-op `up`, preview, destroy", 0.020),
    "settled": ("the same with the empty plans after each `up`", 0.040),
    "stacks": (f"{STACKS} tests with such a stack each", 4.0),
    "laws": ("the verdict of all laws, a provider in memory", 5.0),
    "lives": (f"{LIVES:,} lifecycles", 60.0),
    "plugin": ("what the pytest plugin adds where it is not used", 0.1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--languages", default="python,nodejs")
    options = parser.parse_args()
    measure = {"python": python, "nodejs": node}
    found = {language: measure[language](options.rounds) for language in options.languages.split(",")}
    print("| what | aim, s |" + "".join(f" {language}: wall, s | CPU, s |" for language in found))
    print("| --- | ---: |" + " ---: | ---: |" * len(found))
    for name, (what, aim) in ROWS.items():
        cells = [found[language].get(name) for language in found]
        text = "".join(f" {cell.wall:.3f} | {cell.cpu:.3f} |" if cell else " | |" for cell in cells)
        print(f"| {what} | {aim:g} |{text}")


if __name__ == "__main__":
    main()
