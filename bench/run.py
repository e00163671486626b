"""Measures maloko against the SDKs' own mocks, side by side, and writes the tables of docs/internals/performance.md.

    python bench/run.py                                   print the tables
    python bench/run.py --write docs/internals/performance.md       put them between the markers of that file
    python bench/run.py --sizes 10,1000 --repeat 1        a quicker look

Every measurement is a process of its own: CPU seconds of it and its children, wall seconds, peak memory. Baseline and
maloko take turns within every repeat, and the median counts. The baseline is the SDK's mocks run of the same program
with its provider serialiser stubbed out: what the SDK itself costs. It knows no state, so its one run stands beside
each operation. The first programs are as the guide writes them, with a provider object for each resource; one object
that all resources share follows.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "bench"
LANGUAGES = {"python": "Python", "nodejs": "Node"}
PROGRAMS: dict[str, list[tuple[str, str, dict[str, str]]]] = {
    "python": [
        ("python-guide", "a provider object per resource, of a class", {}),
        ("python", "one provider object for all", {}),
    ],
    "nodejs": [
        ("nodejs-guide", "a provider object per resource, of a class", {"BENCH_PROVIDER": "class"}),
        ("nodejs-guide", "an object literal per resource", {"BENCH_PROVIDER": "literal"}),
        ("nodejs", "one provider object for all", {}),
    ],
}
"""By language: the folder of each program whose sizes are measured, how it has its providers, and its variables."""
OPERATIONS = ("up", "no-op up", "preview", "destroy")
SHAPES = {
    "chain": ("a chain of 1,000, created", 1),
    "replacements": ("1,000 replacements with 5 dependents each", 2),
    "tree": ("components 500 deep, a resource in each, created", 1),
    "few": ("10,000 resources, 10 of which change", 2),
}
"""By name in the programs: what is measured, and in which `up`."""
COLUMNS = "".join(f"| {what} | base | ratio " for what in ("CPU s", "wall s", "MiB")) + "|"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


@dataclass(frozen=True)
class Cost:
    """What one process took: CPU and wall in seconds, peak memory in MiB."""

    cpu: float
    wall: float
    memory: float


def measure(command: list[str], folder: Path, env: dict[str, str]) -> Cost:
    """Runs a command to its end; raises with its output if it fails."""
    with tempfile.TemporaryFile() as said:
        begin = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            text = said.read().decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}\n{text[-4000:]}")
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes on macOS, KiB elsewhere
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * unit / 2**20)


def median(costs: list[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.cpu for cost in costs),
        statistics.median(cost.wall for cost in costs),
        statistics.median(cost.memory for cost in costs),
    )


class Bench:
    """One language's program in a folder of its own, with maloko and the baseline over it."""

    def __init__(
        self,
        language: str,
        folder: Path,
        program: str,
        size: int,
        passphrase: str | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        self.folder = folder / "project"
        shutil.copytree(HERE / program, self.folder, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
        if language == "python":
            self.maloko = str(ROOT / ".venv" / "bin" / "maloko")
            self.base = [str(ROOT / ".venv" / "bin" / "python"), str(HERE / "baseline.py"), str(self.folder)]
        else:
            modules = ROOT / "node-tests" / "node_modules"
            (self.folder / "node_modules").symlink_to(modules)
            self.maloko = str(modules / ".bin" / "maloko")
            self.base = ["node", str(HERE / "baseline.cjs"), str(self.folder)]
        # Settings of whoever runs this must not decide where the state is and what encrypts it.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")}
        self.env = {
            **inherited,
            **(variables or {}),
            "BENCH_N": str(size),
            "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        if passphrase is not None:
            self.env["PULUMI_CONFIG_PASSPHRASE"] = passphrase

    def run(self, *arguments: str) -> Cost:
        return measure([self.maloko, *arguments, "--stack", "dev"], self.folder, self.env)

    def baseline(self) -> Cost:
        return measure(self.base, self.folder, self.env)

    def operation(self, name: str) -> Cost:
        once = ("--yes", "--skip-preview")
        arguments = {
            "up": ("up", *once),
            "no-op up": ("up", *once),
            "preview": ("preview",),
            "destroy": ("destroy", *once),
        }
        return self.run(*arguments[name])


def compare(
    language: str, program: str, variables: dict[str, str], size: int, repeat: int, say: Callable[[str], None]
) -> tuple[Cost, dict[str, Cost]]:
    """The medians of the baseline and of every operation, for one program and number of resources."""
    base: list[Cost] = []
    ours: dict[str, list[Cost]] = {name: [] for name in OPERATIONS}
    for number in range(repeat):
        with tempfile.TemporaryDirectory(prefix="maloko-bench-") as folder:
            bench = Bench(language, Path(folder), program, size, variables=variables)
            measure([bench.maloko, "stack", "init", "dev"], bench.folder, bench.env)
            for name in OPERATIONS:
                say(f"{program} {' '.join(variables.values())} {size} {name}, {number + 1} of {repeat}")
                if name == "up" or size < 5000:  # its ten seconds once a round are enough
                    base.append(bench.baseline())
                ours[name].append(bench.operation(name))
    return median(base), {name: median(costs) for name, costs in ours.items()}


def cold(language: str, repeat: int) -> dict[str, Cost]:
    """`up` of ten resources on an existing stack with a passphrase, in one pass and in two."""
    program = "python" if language == "python" else "typescript"
    runs: dict[str, list[Cost]] = {"one pass": [], "two passes": []}
    with tempfile.TemporaryDirectory(prefix="maloko-bench-") as folder:
        bench = Bench(language, Path(folder), program, 10, passphrase="bench")
        measure([bench.maloko, "stack", "init", "dev"], bench.folder, bench.env)
        bench.operation("up")
        for _ in range(repeat):
            runs["one pass"].append(bench.operation("up"))
            runs["two passes"].append(bench.run("up", "--yes"))
    return {name: median(costs) for name, costs in runs.items()}


def shape(language: str, name: str, repeat: int) -> tuple[Cost | None, Cost]:
    """The medians of the baseline, where the SDK gets through at all, and of the measured `up` of a program's shape."""
    base: list[Cost] = []
    ours: list[Cost] = []
    measured = SHAPES[name][1]
    for _ in range(repeat):
        with tempfile.TemporaryDirectory(prefix="maloko-bench-") as folder:
            bench = Bench(language, Path(folder), f"{language}-shapes", 0)
            bench.env["BENCH_SHAPE"] = name
            measure([bench.maloko, "stack", "init", "dev"], bench.folder, bench.env)
            for number in range(1, measured + 1):
                bench.env["BENCH_ROUND"] = str(number)
                cost = bench.operation("up")
            ours.append(cost)
            try:
                base.append(bench.baseline())
            except RuntimeError as error:
                # The Python SDK's own check for cycles recurses along a chain.
                if "RecursionError" not in str(error):
                    raise
    return median(base) if base else None, median(ours)


def cells(cost: Cost, base: Cost | None) -> list[str]:
    """What a row says of a cost: the figure, the baseline's, the ratio, for each of the three."""
    if base is None:
        return [cell for mine in (cost.cpu, cost.wall, cost.memory) for cell in (f"{mine:.2f}", "RecursionError", "")]
    out = []
    for mine, theirs, digits in ((cost.cpu, base.cpu, 2), (cost.wall, base.wall, 2), (cost.memory, base.memory, 0)):
        out += [f"{mine:.{digits}f}", f"{theirs:.{digits}f}", f"{mine / theirs:.2f}"]
    return out


def tables(languages: list[str], sizes: list[int], repeat: int, say: Callable[[str], None]) -> str:
    """The report as Markdown."""
    out: list[str] = []
    for language in languages:
        out += [f"### {LANGUAGES[language]}", ""]
        for program, what, variables in PROGRAMS[language]:
            out += [f"{what[0].upper()}{what[1:]}:", ""]
            out += [f"| resources | operation {COLUMNS}", "| ---: | --- |" + " ---: |" * 9]
            per_resource: dict[int, dict[str, Cost]] = {}
            for size in sizes:
                base, ours = compare(language, program, variables, size, repeat, say)
                per_resource[size] = ours
                for name, cost in ours.items():
                    out.append(f"| {size:,} | {name} | {' | '.join(cells(cost, base))} |")
            out.append("")
            if {10, 1000, 10000} <= per_resource.keys():
                out += [growth(per_resource), ""]
        out += ["| cold start, 10 resources | CPU s | wall s | peak MiB |", "| --- | ---: | ---: | ---: |"]
        for name, cost in cold(language, max(3, repeat)).items():
            out.append(f"| `up`, {name} | {cost.cpu:.2f} | {cost.wall:.2f} | {cost.memory:.0f} |")
        out += ["", f"| `up` {COLUMNS}", "| --- |" + " ---: |" * 9]
        for name, (what, _) in SHAPES.items():
            say(f"{language} {name}")
            sdk, cost = shape(language, name, repeat)
            out.append(f"| {what} | {' | '.join(cells(cost, sdk))} |")
        out.append("")
    return "\n".join(out)


def growth(per_resource: dict[int, dict[str, Cost]]) -> str:
    """How the CPU time per resource at 10,000 compares with that at 1,000, the fixed cost (10 resources) taken off."""
    parts = []
    for name in OPERATIONS:
        fixed, small, large = (per_resource[size][name].cpu for size in (10, 1000, 10000))
        each_small, each_large = (small - fixed) / 990, (large - fixed) / 9990
        parts.append(f"{name} {each_small * 1e6:.0f} → {each_large * 1e6:.0f} µs ({each_large / each_small:.2f})")
    return f"CPU per resource, 1,000 → 10,000, start-up taken off: {'; '.join(parts)}."


def about(repeat: int, command: str) -> str:
    return (
        f"Measured {time.strftime('%Y-%m-%d')} with `{command}`: {platform.system()} {platform.release()}, "
        f"{os.cpu_count()} cores, {platform.machine()}; Python {platform.python_version()}, "
        f"Node {subprocess.run(['node', '--version'], text=True, capture_output=True, check=True).stdout.strip()}; "
        f"median of {repeat}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10,1000,10000")
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--write", type=Path, help="a file with the two markers")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]

    def say(text: str) -> None:
        print(f"  {text}", file=sys.stderr, flush=True)

    report = (
        f"{about(options.repeat, 'make bench')}\n\n{tables(options.languages.split(','), sizes, options.repeat, say)}"
    )
    print(report)
    if options.write is not None:
        text = options.write.read_text()
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        options.write.write_text(f"{before}{BEGIN}\n{report}\n{END}{after}")


if __name__ == "__main__":
    main()
