"""Measures maloko beside a null engine and the SDKs' own mocks, and writes the tables of docs/internals/performance.md.

    python bench/run.py                                   print the tables
    python bench/run.py --write docs/internals/performance.md       put them between the markers of that file
    python bench/run.py --sizes 10,1000 --repeat 1        a quicker look

Every measurement is a process of its own: CPU seconds of it and its children, wall seconds, peak memory. In every
round null engine, mocks and maloko take turns, and the median of the rounds counts. The null engine (`baseline.py`,
`baseline.cjs`) is the SDK with a monitor in process that answers at once, with the help for the collector that a run
of maloko gives. Neither it nor the mocks have a state, so their rows stand once beside all operations. The first
programs are as the guide writes them, with a provider object for each resource; one object that all resources share
follows.
"""

from __future__ import annotations

import argparse
import functools
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from report import EXPLANATION, MOCKS, NULL, Cost, Runs, aims, growth, header, marked, median, rows, speed, turns

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "bench"
PYTHON = str(ROOT / ".venv" / "bin" / "python")
LANGUAGES = {"python": "Python", "nodejs": "Node"}


@dataclass(frozen=True)
class Program:
    """A program whose sizes are measured."""

    folder: str
    what: str
    """How it has its providers."""
    aims: dict[int, float]
    """By number of resources: how much of the null engine's seconds an `up` may take."""
    variables: dict[str, str] = field(default_factory=dict)


CLASS, LITERAL = {"BENCH_PROVIDER": "class"}, {"BENCH_PROVIDER": "literal"}
PROGRAMS: dict[str, list[Program]] = {
    "python": [
        Program("python-guide", "a provider object per resource, of a class", {1_000: 1.05, 10_000: 0.6}),
        Program("python", "one provider object for all", {1_000: 0.9, 10_000: 0.6}),
    ],
    "nodejs": [
        Program("nodejs-guide", "a provider object per resource, of a class", {1_000: 1.15, 10_000: 0.85}, CLASS),
        Program("nodejs-guide", "an object literal per resource", {1_000: 1.15, 10_000: 0.85}, LITERAL),
        Program("nodejs", "one provider object for all", {1_000: 0.85, 10_000: 0.75}),
    ],
}
MEMORY_AIM = 1.25
"""How much of the null engine's peak an `up` of the greatest size may take."""
COLD_AIMS = {"python": 0.8, "nodejs": 1.0}
"""Wall seconds of an `up` of ten resources."""
OPERATIONS = ("up", "no-op up", "preview", "destroy")
SHAPES = {
    "chain": ("a chain of 1,000, created", 1_000, 1),
    "replacements": ("1,000 replacements with 5 dependents each", 6_000, 2),
    "tree": ("components 500 deep, a resource in each, created", 1_000, 1),
    "few": ("10,000 resources, 10 of which change", 10_000, 2),
}
"""By name in the programs: what is measured, of how many resources, and in which `up`."""
LOOPS = {
    "Python": [
        PYTHON,
        "-c",
        "import time; begin = time.process_time()\n"
        "for n in range(400_000): {'n': n, 'name': f'item-{n}'}['name'].split('-')\n"
        "print(time.process_time() - begin)",
    ],
    "Node": [
        "node",
        "-e",
        "const begin = process.cpuUsage(); let sum = 0;"
        "for (let n = 0; n < 2000000; n++) sum += { n, name: `item-${n}` }.name.split('-').length;"
        "const { user, system } = process.cpuUsage(begin); console.log((user + system) / 1e6);",
    ],
}
"""The fixed loops that say how quick the machine is: small objects and texts, as the SDKs make them."""
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


class Clock:
    """The machine's speed while one table is measured: machines that others use, too, are not as quick at all times."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {language: [] for language in LOOPS}

    def tick(self) -> None:
        for language, command in LOOPS.items():
            done = subprocess.run(command, text=True, capture_output=True, check=True)
            self._seconds[language].append(float(done.stdout))

    def line(self) -> str:
        return speed(self._seconds)


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


HELP = """
import gc
from maloko._sdk.speed import fewer_collections
with fewer_collections():
    print(*gc.get_threshold(), sep=",")
"""


@functools.cache
def collector_help(language: str) -> list[str]:
    """What the null engine is told of the help that a run of maloko gives the collector. In Node it gives none.

    Another process is asked: a child's peak memory begins with that of this process, which therefore loads nothing.
    """
    if language != "python":
        return []
    done = subprocess.run([PYTHON, "-c", HELP], text=True, capture_output=True, check=True)
    return [done.stdout.strip()]


class Bench:
    """One language's program in a folder of its own, with maloko and the baselines over it."""

    def __init__(
        self,
        language: str,
        folder: Path,
        program: str,
        size: int,
        passphrase: str | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        self.language = language
        self.folder = folder / "project"
        shutil.copytree(HERE / program, self.folder, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
        if language == "python":
            self.maloko = str(ROOT / ".venv" / "bin" / "maloko")
            self.base = [PYTHON, str(HERE / "baseline.py"), str(self.folder)]
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

    def baseline(self, name: str) -> Cost:
        kind = ["mocks"] if name == MOCKS else ["null", *collector_help(self.language)]
        return measure([*self.base, *kind], self.folder, self.env)

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
    language: str, program: Program, size: int, repeat: int, clock: Clock, say: Callable[[str], None]
) -> dict[str, Runs]:
    """The runs of both baselines and of every operation, for one program and number of resources."""
    runs: dict[str, list[Cost]] = {name: [] for name in (NULL, MOCKS, *OPERATIONS)}
    for number in range(repeat):
        clock.tick()
        with tempfile.TemporaryDirectory(prefix="maloko-bench-") as folder:
            bench = Bench(language, Path(folder), program.folder, size, variables=program.variables)
            measure([bench.maloko, "stack", "init", "dev"], bench.folder, bench.env)
            for engine in turns((NULL, MOCKS, "maloko"), number):
                say(
                    f"{program.folder} {' '.join(program.variables.values())} {size} {engine}, {number + 1} of {repeat}"
                )
                if engine == "maloko":
                    for name in OPERATIONS:
                        runs[name].append(bench.operation(name))
                else:
                    runs[engine].append(bench.baseline(engine))
    return dict(runs)


def cold(language: str, repeat: int) -> dict[str, Runs]:
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
    return dict(runs)


def shape(language: str, name: str, repeat: int, clock: Clock) -> dict[str, Runs]:
    """The runs of both baselines, where the SDK gets through at all, and of the measured `up` of a program's shape."""
    runs: dict[str, list[Cost]] = {NULL: [], MOCKS: [], "maloko": []}
    rounds = SHAPES[name][2]
    for number in range(repeat):
        clock.tick()
        with tempfile.TemporaryDirectory(prefix="maloko-bench-") as folder:
            bench = Bench(language, Path(folder), f"{language}-shapes", 0, variables={"BENCH_SHAPE": name})
            measure([bench.maloko, "stack", "init", "dev"], bench.folder, bench.env)
            bench.env["BENCH_ROUND"] = "1"
            if rounds == 2:
                bench.operation("up")
                bench.env["BENCH_ROUND"] = "2"
            for engine in turns(tuple(runs), number):
                if engine == "maloko":
                    runs[engine].append(bench.operation("up"))
                    continue
                try:
                    runs[engine].append(bench.baseline(engine))
                except RuntimeError as error:
                    # The Python SDK's own check for cycles recurses along a chain.
                    if "RecursionError" not in str(error):
                        raise
    return dict(runs)


def of_sizes(language: str, program: Program, sizes: list[int], repeat: int, say: Callable[[str], None]) -> list[str]:
    """The lines about one program: its table, how it grows and what is aimed at."""
    clock = Clock()
    measured = {size: compare(language, program, size, repeat, clock, say) for size in sizes}
    out = [f"{program.what[0].upper()}{program.what[1:]}. {clock.line()}", "", *header("resources")]
    for size, runs in measured.items():
        out += rows(f"{size:,}", size, runs)
    out.append("")
    if len(sizes) == 3:
        out += [growth(measured), ""]
    said = aims(program.aims, MEMORY_AIM, measured)
    return [*out, said, ""] if said else out


def of_shapes(language: str, repeat: int, say: Callable[[str], None]) -> list[str]:
    """The lines about programs of other shapes."""
    clock = Clock()
    table = header("`up` of")
    for name, (what, resources, _) in SHAPES.items():
        say(f"{language} {name}")
        table += rows(what, resources, shape(language, name, repeat, clock))
    return [f"Other shapes. {clock.line()}", "", *table, ""]


def tables(languages: list[str], sizes: list[int], repeat: int, say: Callable[[str], None]) -> str:
    """The report as Markdown."""
    out = [EXPLANATION, ""]
    for language in languages:
        out += [f"### {LANGUAGES[language]}", ""]
        for program in PROGRAMS[language]:
            out += of_sizes(language, program, sizes, repeat, say)
        out += [f"| cold start, 10 resources, at most {COLD_AIMS[language]} s | CPU s | wall s | peak MiB |"]
        out += ["| --- | ---: | ---: | ---: |"]
        for name, costs in cold(language, repeat).items():
            cost = median(costs)
            out.append(f"| {marked(f'`up`, {name}', costs)} | {cost.cpu:.2f} | {cost.wall:.2f} | {cost.memory:.0f} |")
        out += ["", *of_shapes(language, repeat, say)]
    return "\n".join(out)


def about(repeat: int, command: str) -> str:
    return (
        f"Measured {time.strftime('%Y-%m-%d')} with `{command}`: {platform.system()} {platform.release()}, "
        f"{os.cpu_count()} cores, {platform.machine()}; Python {platform.python_version()}, "
        f"Node {subprocess.run(['node', '--version'], text=True, capture_output=True, check=True).stdout.strip()}; "
        f"medians of {repeat} by turns."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10,1000,10000")
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--repeat", type=int, default=5)
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
