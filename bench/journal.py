"""What the journal costs in Python, as `bench/journal.cjs` says it for Node.

`up` of independent resources on a stack in a directory and on one that is kept nowhere, by turns, in one warm process.
Prints a table; `python bench/journal.py 1000` for another number of resources.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pulumi import dynamic

from maloko._maloko import TestStack
from maloko._run.host import Host
from maloko.testing._operations._runs import execute

RESOURCES = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
# The machine is noisier than the journal is dear: the ratio is the middle one of those of the pairs.
ROUNDS = 62


class EchoProvider(dynamic.ResourceProvider):
    """Does nothing, in no time."""

    def create(self, props: dict[str, Any]) -> dynamic.CreateResult:
        return dynamic.CreateResult("made", props)


class Thing(dynamic.Resource):
    """What is made."""

    def __init__(self, name: str, number: int) -> None:
        super().__init__(EchoProvider(), name, {"number": number})


def first() -> None:
    Thing("first", 0)


def program() -> None:
    for number in range(RESOURCES):
        Thing(f"thing-{number}", number)


def run(state: TestStack, verb: str, parallel: int, program: Callable[[], None]) -> None:
    report, exception = execute(state, Host(), {"verb": verb, "time": "real", "parallel": parallel}, program)
    assert report["outcome"] == "succeeded", (report["error"], exception)


def up(state: TestStack, parallel: int) -> tuple[float, float]:
    """The milliseconds of the wall's clock and of the CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    run(state, "up", parallel, program)
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def main() -> None:
    print("| calls at a time | without, ms | with, ms | ratio | CPU without, ms | with, ms | ratio |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for parallel in (16, 256):
        costs: list[tuple[tuple[float, float], tuple[float, float]]] = []
        for number in range(ROUNDS):
            with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as directory:
                kept = TestStack.open(directory, "project", "dev")
                # Makes the stack and derives its key.
                run(kept, "up", parallel, first)
                run(kept, "destroy", parallel, first)
                nowhere = TestStack("project", f"nowhere-{number}")
                # The first rounds warm up; none of the two is always the second one.
                turns = [("without", nowhere), ("with", kept)]
                cost = {which: up(state, parallel) for which, state in (turns if number % 2 else reversed(turns))}
                if number > 1:
                    costs.append((cost["without"], cost["with"]))
        cells = []
        for index in (0, 1):
            without, with_journal = (statistics.median(cost[which][index] for cost in costs) for which in (0, 1))
            ratio = statistics.median(cost[1][index] / cost[0][index] for cost in costs)
            cells += [f"{without:.0f}", f"{with_journal:.0f}", f"{ratio:.2f}"]
        print(f"| {parallel} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
