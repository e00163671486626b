#!/usr/bin/env python3
"""Runs stages of `make test` one after the other, and tells what each of them cost.

    stages.py run STAGE...    makes each target, to the end also when one fails; exits with 1 if one failed
    stages.py budget          fails if a stage of the last run took over one and a half times its budget

A stage is a target of the Makefile. The seconds of its slowest tests are read from the JUnit files that its runner
writes into $REPORTS, and from the lines of `cargo test`. The budgets, in seconds on two cores, stand in budget.json.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = Path(__file__).with_name("budget.json")
REPORTS = ROOT / ".build" / "reports"
LAST_RUN = REPORTS / "stages.json"
SLOWEST = 10
ALLOWED = 1.5

RUNNING = re.compile(r"^\s*Running (?:unittests )?(?P<source>\S+) \(\S*?/deps/(?P<binary>[\w-]+)-[0-9a-f]+\)")
RESULT = re.compile(r"^test result: .* finished in (?P<seconds>[\d.]+)s")

Test = tuple[float, str]


def cargo_tests(lines: Iterable[str]) -> Iterator[Test]:
    """The seconds of each test binary that `cargo test` ran."""
    binary = "tests"
    for line in lines:
        if found := RUNNING.match(line):
            binary = f"cargo test: {found['binary']} {found['source']}"
        elif found := RESULT.match(line):
            yield float(found["seconds"]), binary


def junit_tests(folder: Path) -> Iterator[Test]:
    """The seconds of each test in a folder's JUnit files."""
    for file in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(file).iter("testcase"):
            yield float(case.get("time") or 0), f"{case.get('classname', '')} {case.get('name', '')}".strip()


def run_stage(stage: str) -> dict[str, Any]:
    """Makes one target, whose output is shown and kept."""
    folder = REPORTS / stage
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    print(f"\n== {stage}", flush=True)
    began = time.monotonic()
    lines = []
    command = [os.environ.get("MAKE", "make"), "--no-print-directory", stage]
    environment = {**os.environ, "REPORTS": str(folder)}
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as made:
        for line in made.stdout or ():
            lines.append(line)
            print(line, end="", flush=True)
    slowest = sorted([*cargo_tests(lines), *junit_tests(folder)], reverse=True)[:SLOWEST]
    return {"stage": stage, "seconds": time.monotonic() - began, "failed": made.returncode != 0, "slowest": slowest}


def table(stages: list[dict[str, Any]], budgets: dict[str, int]) -> str:
    """What each stage cost, and its slowest tests."""
    lines = ["", "stage                    seconds   budget"]
    for it in stages:
        result = "  FAILED" if it["failed"] else ""
        lines.append(f"{it['stage']:<24} {it['seconds']:>7.0f}  {budgets.get(it['stage'], '-'):>7}{result}")
    lines.append(f"{'all':<24} {sum(it['seconds'] for it in stages):>7.0f}")
    for it in (it for it in stages if it["slowest"]):
        lines += ["", f"slowest of {it['stage']}:"]
        lines += [f"{seconds:>8.1f} s  {name}" for seconds, name in it["slowest"]]
    return "\n".join(lines)


def run(names: list[str]) -> int:
    stages = []
    for name in names:
        stages.append(run_stage(name))
        LAST_RUN.write_text(json.dumps(stages, indent=1))
        if stages[-1]["failed"] and name == names[0]:
            # What the others need was not built.
            break
    print(table(stages, json.loads(BUDGETS.read_text())))
    failed = [it["stage"] for it in stages if it["failed"]]
    for stage in failed:
        print(f"{stage} failed; again: make {stage}")
    return 1 if failed else 0


def check_budget() -> int:
    if not LAST_RUN.exists():
        print("there is no run to look at: run `make test` first", file=sys.stderr)
        return 1
    budgets, stages = json.loads(BUDGETS.read_text()), json.loads(LAST_RUN.read_text())
    over = [it for it in stages if it["seconds"] > ALLOWED * budgets.get(it["stage"], float("inf"))]
    for it in over:
        print(f"{it['stage']}: {it['seconds']:.0f} s, and its budget is {budgets[it['stage']]} s (.ci/budget.json)")
    print(f"budget: {len(stages) - len(over)} of {len(stages)} stages kept to it")
    return 1 if over else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run").add_argument("stage", nargs="+")
    commands.add_parser("budget")
    options = parser.parse_args()
    return run(options.stage) if options.command == "run" else check_budget()


if __name__ == "__main__":
    sys.exit(main())
