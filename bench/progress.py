#!/usr/bin/env python3
"""What it costs to be told how far an operation has come, beside being told nothing, and being told every event.

    progress.py [--resources 1000] [--rounds 5]

To be run by a Python that has maloko. Each round makes a stack of that many resources in this process, in each of the
ways, which take turns. What counts is the median of the ratios to the first way, of the time that the processors
worked: the clock's says more of what else the machine does. The rows are Markdown.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from pulumi.dynamic import CreateResult, Resource, ResourceProvider

from maloko import automation as auto

WAYS: dict[str, dict[str, Any]] = {
    "told nothing": {},
    "on_progress, every 2.5 s": {"on_progress": lambda _report: None},
    "on_progress, every 0.05 s": {"on_progress": lambda _report: None, "progress_every": 0.05},
    "on_event": {"on_event": lambda _event: None},
}


class Plain(ResourceProvider):
    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(props["name"], props)


class Thing(Resource):
    def __init__(self, provider: ResourceProvider, name: str) -> None:
        super().__init__(provider, name, {"name": name})


def seconds(resources: int, given: dict[str, Any]) -> tuple[float, float]:
    """The time that an `up` takes which makes everything: of the processors, and of the clock."""

    def program() -> None:
        provider = Plain()
        for number in range(resources):
            Thing(provider, f"r{number}")

    with tempfile.TemporaryDirectory(prefix="maloko-bench-") as directory:
        variables = {"PULUMI_BACKEND_URL": f"file://{directory}", "PULUMI_CONFIG_PASSPHRASE": "secret"}
        work = Path(directory, "work")
        work.mkdir()
        options = auto.LocalWorkspaceOptions(work_dir=str(work), env_vars=variables)
        stack = auto.create_stack("dev", "bench", program, opts=options)
        begun, worked = time.perf_counter(), time.process_time()
        stack.up(outputs=False, summary=False, **given)
        return time.process_time() - worked, time.perf_counter() - begun


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--resources", type=int, default=1000)
    arguments.add_argument("--rounds", type=int, default=5)
    asked = arguments.parse_args()
    seconds(10, {})
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(asked.rounds):
        for way, given in WAYS.items():
            taken[way].append(seconds(asked.resources, given))
    first = taken["told nothing"]
    print("| | CPU seconds | ratio | seconds | ratio |\n| --- | --- | --- | --- | --- |")
    for way, times in taken.items():
        cells = [way]
        for kind in (0, 1):
            ratios = [time[kind] / base[kind] for time, base in zip(times, first, strict=True)]
            cells += [f"{statistics.median(time[kind] for time in times):.2f}", f"{statistics.median(ratios):.3f}"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
