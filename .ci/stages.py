#!/usr/bin/env python3
"""Runs stages of `make test`, and tells what each of them cost.

    stages.py run [--first STAGE...] [--jobs N] [--lane STAGE...]...
        makes each target, to the end also when one fails, and exits with 1 if one failed. Those of `--first`, which all
        others need, run one after the other, with N things at a time (make's -j). Then each lane runs beside the other
        lanes, its stages one after the other. What a stage of a lane says is shown whole at its end. With LANES in
        the environment so many lanes run at a time. A stage that takes longer than LONGEST_STAGE seconds (2,000) hangs,
        and is ended. What a stage leaves behind is ended, too; so are all of them on Ctrl-C and SIGTERM.
        Nothing that failed is made again: each failed test is named at the end.
    stages.py budget
        fails if a stage of the last run took over one and a half times its budget

A stage is a target of the Makefile. The seconds of its slowest tests are read from the JUnit files that its runner
writes into $REPORTS, and from the lines of `cargo test`. The budgets, in seconds on two cores, stand in budget.json.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = Path(__file__).with_name("budget.json")
REPORTS = ROOT / ".build" / "reports"
LAST_RUN = REPORTS / "stages.json"
SLOWEST = 10
TELLING = threading.Lock()
ALLOWED = 1.5
LONGEST_SECONDS = float(os.environ.get("LONGEST_STAGE") or 2000)
"""A stage that takes longer hangs."""
STOPPED = threading.Event()
"""Set when no further stage is to begin."""

RUNNING = re.compile(r"^\s*Running (?:unittests )?(?P<source>\S+) \(\S*?/deps/(?P<binary>[\w-]+)-[0-9a-f]+\)")
RESULT = re.compile(r"^test result: .* finished in (?P<seconds>[\d.]+)s")

# What runners that write no JUnit files say at their end: (passed, failed) or (all, failed).
PASSED_AND_FAILED = (
    re.compile(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed"),
    re.compile(r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed"),
    re.compile(r"^Tests: +(?:(?P<failed>\d+) failed, )?(?P<passed>\d+) passed"),
    re.compile(r"^(?P<all>\d+) (?:programs|kills)\b.*: (?P<failed>\d+) failed"),
)

Test = tuple[float, str]


def cargo_tests(lines: Iterable[str]) -> Iterator[Test]:
    """The seconds of each test binary that `cargo test` ran."""
    binary = "tests"
    for line in lines:
        if found := RUNNING.match(line):
            binary = f"cargo test: {found['binary']} {found['source']}"
        elif found := RESULT.match(line):
            yield float(found["seconds"]), binary


def junit_cases(folder: Path) -> list[ElementTree.Element]:
    """The tests in a folder's JUnit files."""
    return [case for file in sorted(folder.glob("*.xml")) for case in ElementTree.parse(file).iter("testcase")]


def failures(cases: list[ElementTree.Element]) -> list[dict[str, str]]:
    """The file, the name and the first line of the message of each test that failed."""
    told = []
    for case in cases:
        why = next((it for it in map(case.find, ("failure", "error")) if it is not None), None)
        if why is not None:
            message = next(iter((why.get("message") or why.text or "").strip().splitlines()), "")
            told.append({"file": case.get("classname", ""), "name": case.get("name", ""), "message": message[:300]})
    return told


def counts(lines: Iterable[str], cases: int, failed: int) -> tuple[int, int]:
    """How many tests passed, and how many failed: those of the JUnit files, and what other runners say."""
    passed = cases - failed
    for found in (found for line in lines for kind in PASSED_AND_FAILED if (found := kind.match(line))):
        said = {name: int(number) for name, number in found.groupdict().items() if number}
        failed += said.get("failed", 0)
        passed += said.get("passed", said.get("all", 0) - said.get("failed", 0))
    return passed, failed


def make(stage: str, folder: Path, live: bool, jobs: int) -> tuple[list[str], int, float]:
    """Makes one target; what it said, its exit code, and the processor seconds of it and its children."""
    command = [os.environ.get("MAKE", "make"), "--no-print-directory", f"-j{jobs}", stage]
    file = folder / "output.txt"
    # A file: the end of a pipe never comes where a process is left behind that holds it.
    with file.open("w") as output, file.open(errors="replace") as said:
        made = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "REPORTS": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status, used = wait(made.pid, said if live else None)
        finally:
            # What the stage has left behind, or all of it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(made.pid, signal.SIGKILL)
        made.returncode = os.waitstatus_to_exitcode(status)
    lines = file.read_text(errors="replace").splitlines(keepends=True)
    return lines, made.returncode, used.ru_utime + used.ru_stime


def wait(leader: int, live: TextIO | None) -> tuple[int, resource.struct_rusage]:
    """Waits for the leader of a process group, shows what is said meanwhile, and ends the group if it hangs."""
    end = time.monotonic() + LONGEST_SECONDS
    ended = 0
    while not ended:
        stopped = STOPPED.wait(0.1)
        if not stopped and time.monotonic() > end:
            stopped = True
            seconds = f"{LONGEST_SECONDS:.0f} s"
            tell(f"== a stage still runs after {seconds}, and is ended; its processes:\n{processes(leader)}")
            # Python tells then what its threads are at.
            os.killpg(leader, signal.SIGABRT)
            time.sleep(5)
        if stopped:
            os.killpg(leader, signal.SIGKILL)
        ended, status, used = os.wait4(leader, 0 if stopped else os.WNOHANG)
        if live:
            print(live.read(), end="", flush=True)
    return status, used


def processes(leader: int) -> str:
    """A group's processes, as `ps` lists them."""
    command = ["ps", "--forest", "-o", "pid,etimes,time,args", "-g", str(leader)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def run_stage(stage: str, live: bool = True, jobs: int = 1) -> dict[str, Any]:
    """Makes one target. What it says is shown, and kept."""
    folder = REPORTS / stage
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    tell(f"\n== {stage}" if live else f"== {stage} begins")
    began = time.monotonic()
    lines, code, processor = make(stage, folder, live, jobs)
    seconds = time.monotonic() - began
    if not live:
        tell(f"\n== {stage}\n{''.join(lines)}== {stage} {'failed' if code else 'ended'} after {seconds:.0f} s")
    cases = junit_cases(folder)
    times = [(float(case.get("time") or 0), f"{case.get('classname', '')} {case.get('name', '')}") for case in cases]
    told = failures(cases)
    passed, failed = counts(lines, len(cases), len(told))
    return {
        "stage": stage,
        "seconds": seconds,
        "processor": processor,
        "passed": passed,
        # A stage that ends badly without a failed test has failed as a whole.
        "failed": max(failed, 1) if code else 0,
        "failures": told if code else [],
        "slowest": sorted([*cargo_tests(lines), *times], reverse=True)[:SLOWEST],
    }


def run_lane(names: list[str]) -> list[dict[str, Any]]:
    return [run_stage(name, live=False) for name in names if not STOPPED.is_set()]


def tell(text: str) -> None:
    with TELLING:
        print(text, flush=True)


def table(stages: list[dict[str, Any]], budgets: dict[str, int], seconds: float) -> str:
    """What each stage cost, and its slowest tests."""
    lines = ["", "stage                    seconds  processor   budget   passed   failed"]
    for it in stages:
        costs = f"{it['seconds']:>7.0f} {it['processor']:>10.0f} {budgets.get(it['stage'], '-'):>8}"
        lines.append(f"{it['stage']:<24} {costs} {it['passed']:>8} {it['failed']:>8}")
    lines.append(f"{'all':<24} {seconds:>7.0f} {sum(it['processor'] for it in stages):>10.0f}")
    for it in (it for it in stages if it["slowest"]):
        lines += ["", f"slowest of {it['stage']}:"]
        lines += [f"{seconds:>8.1f} s  {name}" for seconds, name in it["slowest"]]
    return "\n".join(lines)


def run(first: list[str], lanes: list[list[str]], jobs: int) -> int:
    began = time.monotonic()
    stages = [run_stage(name, jobs=jobs) for name in first]
    # Where what the others need was not built, they would say so each for itself.
    if not any(it["failed"] for it in stages):
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("LANES") or len(lanes) or 1)) as pool:
            try:
                stages += [it for lane in pool.map(run_lane, lanes) for it in lane]
            except BaseException:
                # The lanes' threads are waited for, and they for their stages, which Ctrl-C does not reach.
                STOPPED.set()
                raise
    LAST_RUN.write_text(json.dumps(stages, indent=1))
    print(table(stages, json.loads(BUDGETS.read_text()), time.monotonic() - began))
    print()
    for it in (it for stage in stages for it in stage["failures"]):
        print(f"failed: {it['file']} {it['name']}\n    {it['message']}")
    failed = [it["stage"] for it in stages if it["failed"]]
    for stage in failed:
        print(f"{stage} failed; again: make {stage}")
    print(f"{sum(it['passed'] for it in stages)} passed, {sum(it['failed'] for it in stages)} failed")
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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("--first", nargs="+", default=[])
    running.add_argument("--jobs", type=int, default=1)
    running.add_argument("--lane", nargs="+", action="append", default=[])
    commands.add_parser("budget")
    options = parser.parse_args()
    return run(options.first, options.lane, options.jobs) if options.command == "run" else check_budget()


if __name__ == "__main__":
    sys.exit(main())
