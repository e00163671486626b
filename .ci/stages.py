#!/usr/bin/env python3
"""Makes the targets of `make test` as stages, and tells what each of them cost.

    stages.py [--first STAGE...] [--jobs N] [--lane STAGE...]... [--beside STAGE...]... [--then STAGE...]...

Makes each target, to the end also when one fails, and exits with 1 if one failed. Those of `--first`, which all others
need, run one after the other, with N things at a time (make's -j). Then each lane runs beside the other lanes, its
stages one after the other; so do those of `--beside`, which wait more than they work. The lanes of `--then` begin when
the first of `--lane` has ended. What a stage of a lane says is shown whole at its end. A stage that takes longer than
LONGEST_STAGE seconds (2,000) hangs, and is ended. What a stage leaves behind is ended, too; so are all of them on
Ctrl-C and SIGTERM.

Nothing that failed is made again: each failed test is named at the end, as the JUnit files say that its runner writes
into $REPORTS.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / ".build" / "reports"
MAX_SECONDS = float(os.environ.get("LONGEST_STAGE") or 2000)
TELLING = threading.Lock()
STOPPED = threading.Event()
"""Set when no further stage is to begin, and those that run are to end."""

# What runners that write no JUnit files say at their end: (passed, failed) or (all, failed).
PASSED_AND_FAILED = (
    re.compile(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed", re.M),
    re.compile(r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed", re.M),
    re.compile(r"^Tests: +(?:(?P<failed>\d+) failed, )?(?P<passed>\d+) passed", re.M),
    re.compile(r"^(?P<all>\d+) (?:programs|kills)\b.*: (?P<failed>\d+) failed", re.M),
)


class Stage(NamedTuple):
    name: str
    seconds: float
    processor: float
    passed: int
    failed: int
    failures: list[str]


def tell(text: str) -> None:
    with TELLING:
        print(text, flush=True)


def make(stage: str, folder: Path, live: bool, jobs: int) -> tuple[str, int, float]:
    """Makes one target; what it said, its exit code, and the processor seconds of it and its children."""
    command = [os.environ.get("MAKE", "make"), "--no-print-directory", f"-j{jobs}", stage]
    environment = {**os.environ, "REPORTS": str(folder)}
    file, ended, end = folder / "output.txt", 0, time.monotonic() + MAX_SECONDS
    # A file: the end of a pipe never comes where a process is left behind that holds it.
    with file.open("w") as output, file.open(errors="replace") as said:
        made = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while not ended and time.monotonic() < end and not STOPPED.wait(0.1):
                ended, status, used = os.wait4(made.pid, os.WNOHANG)
                if live:
                    print(said.read(), end="", flush=True)
            if not ended and not STOPPED.is_set():
                tell(f"== {stage} still runs after {MAX_SECONDS:.0f} s, and is ended; {processes(made.pid)}")
                # Python tells then what its threads are at.
                os.killpg(made.pid, signal.SIGABRT)
                time.sleep(5)
        finally:
            # What the stage has left behind, or all of it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(made.pid, signal.SIGKILL)
        if not ended:
            _, status, used = os.wait4(made.pid, 0)
        made.returncode = os.waitstatus_to_exitcode(status)
    return file.read_text(errors="replace"), made.returncode, used.ru_utime + used.ru_stime


def processes(leader: int) -> str:
    """A group's processes, as `ps` lists them."""
    command = ["ps", "--forest", "-o", "pid,etimes,time,args", "-g", str(leader)]
    return f"its processes:\n{subprocess.run(command, capture_output=True, text=True, check=False).stdout}"


def tests_of(folder: Path, said: str) -> tuple[int, int, list[str]]:
    """How many tests passed and failed, by the JUnit files and what other runners say; what of the former failed."""
    cases = [case for file in sorted(folder.glob("*.xml")) for case in ElementTree.parse(file).iter("testcase")]
    failures = []
    for case in cases:
        for why in [it for it in case if it.tag in ("failure", "error")][:1]:
            message = (why.get("message") or why.text or "").strip().partition("\n")[0]
            failures.append(f"failed: {case.get('classname')} {case.get('name')}\n    {message[:300]}")
    passed, failed = len(cases) - len(failures), len(failures)
    for found in (found for kind in PASSED_AND_FAILED for found in kind.finditer(said)):
        numbers = {name: int(number or 0) for name, number in found.groupdict().items()}
        failed += numbers["failed"]
        passed += numbers["passed"] if "passed" in numbers else numbers["all"] - numbers["failed"]
    return passed, failed, failures


def run_stage(name: str, live: bool = False, jobs: int = 1) -> Stage:
    """Makes one target. What it says is shown, and kept."""
    folder = REPORTS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tell(f"\n== {name}" if live else f"== {name} begins")
    began = time.monotonic()
    said, code, processor = make(name, folder, live, jobs)
    seconds = time.monotonic() - began
    if not live:
        tell(f"\n== {name}\n{said}== {name} {'failed' if code else 'ended'} after {seconds:.0f} s")
    passed, failed, failures = tests_of(folder, said)
    # A stage that ends badly without a failed test has failed as a whole.
    return Stage(name, seconds, processor, passed, max(failed, 1) if code else 0, failures if code else [])


def run_lane(names: list[str]) -> list[Stage]:
    return [run_stage(name) for name in names if not STOPPED.is_set()]


def run(options: argparse.Namespace) -> list[Stage]:
    first, lanes, beside, then = options.first, options.lane, options.beside, options.then
    stages = [run_stage(name, live=True, jobs=options.jobs) for name in first]
    # Where what the others need was not built, they would say so each for itself.
    if any(it.failed for it in stages):
        return stages
    with ThreadPoolExecutor(len(lanes) + len(beside) + len(then) or 1) as pool:
        try:
            running = [pool.submit(run_lane, lane) for lane in lanes]
            meanwhile = [pool.submit(run_lane, lane) for lane in beside]
            wait(running, return_when=FIRST_COMPLETED)
            running += meanwhile + [pool.submit(run_lane, lane) for lane in then]
            return stages + [it for lane in running for it in lane.result()]
        except BaseException:
            # The lanes' threads are waited for, and they for their stages, which Ctrl-C does not reach.
            STOPPED.set()
            raise


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", nargs="+", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--lane", nargs="+", action="append", default=[])
    parser.add_argument("--beside", nargs="+", action="append", default=[])
    parser.add_argument("--then", nargs="+", action="append", default=[])
    options = parser.parse_args()
    began = time.monotonic()
    stages = run(options)
    print("\nstage                      seconds  processor   passed   failed")
    for it in stages:
        print(f"{it.name:<26} {it.seconds:>7.0f} {it.processor:>10.0f} {it.passed or '-':>8} {it.failed:>8}")
    print(f"{'all of it':<26} {time.monotonic() - began:>7.0f} {sum(it.processor for it in stages):>10.0f}\n")
    print(*(failure for it in stages for failure in it.failures), sep="\n")
    failed = [it.name for it in stages if it.failed]
    print(*(f"{name} failed; again: make {name}\n" for name in failed), sep="", end="")
    print(f"{sum(it.passed for it in stages)} passed, {sum(it.failed for it in stages)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
