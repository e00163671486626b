"""What a run with resources of a package costs, whole process and with the plugin.

    python bench/plugins.py                 10 and 1,000 resources, both languages
    python bench/plugins.py --sizes 300 --languages python --repeat 5

The plugin is the one of the recorded stories (`conformance/plugins/plugins/probe.py`, written in Python).

Then: what a call of a plugin costs in our own process. It is the CPU time of a no-op `up` (a Check and a Diff for each
resource) without that of a program of as many dynamic resources whose provider has no method to call.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from run import LANGUAGES, Bench

ROOT = Path(__file__).resolve().parent.parent
MALOKO = {
    "python": ROOT / ".venv" / "bin" / "maloko",
    "nodejs": ROOT / "node-tests" / "node_modules" / ".bin" / "maloko",
}
PROBE = ROOT / "conformance" / "plugins" / "plugins" / "probe.py"
PYTHON = """import pulumi


class Thing(pulumi.CustomResource):
    def __init__(self, name, props):
        super().__init__("probe:index:Thing", name, props)


for number in range({size}):
    Thing(f"thing-{{number}}", {{"size": number, "text": "of usual length"}})
"""
NODE = """const pulumi = require("@pulumi/pulumi");
class Thing extends pulumi.CustomResource {{
    constructor(name, props) {{ super("probe:index:Thing", name, props); }}
}}
for (let number = 0; number < {size}; number++) {{
    new Thing(`thing-${{number}}`, {{ size: number, text: "of usual length" }});
}}
"""
FLAGS = ["--yes", "--skip-preview"]
OPERATIONS = {"up": ["up", *FLAGS], "no-op": ["up", *FLAGS], "preview": ["preview"], "destroy": ["destroy", *FLAGS]}


def prepare(folder: Path, language: str, size: int) -> dict[str, str]:
    """A project of that many resources, and the environment in which its plugin is found."""
    plugins = folder / "bin"
    plugins.mkdir()
    script = plugins / "pulumi-resource-probe"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{PROBE}' \"$@\"\n")
    script.chmod(0o755)
    (folder / "Pulumi.yaml").write_text(f"name: bench\nruntime: {language}\n")
    if language == "python":
        (folder / "__main__.py").write_text(PYTHON.format(size=size))
    else:
        (folder / "index.js").write_text(NODE.format(size=size))
        (folder / "package.json").write_text(json.dumps({"name": "bench", "main": "index.js"}))
        (folder / "node_modules").symlink_to(ROOT / "node-tests" / "node_modules")
    return {
        **os.environ,
        "PATH": f"{plugins}:{os.environ['PATH']}",
        "PULUMI_BACKEND_URL": f"file://{folder}/state",
        "PULUMI_CONFIG_PASSPHRASE": "bench",
        "PULUMI_HOME": str(folder / "home"),
    }


@contextlib.contextmanager
def stack(language: str, size: int) -> Iterator[tuple[Path, dict[str, str]]]:
    """A project of that many resources with a fresh stack: its folder, and the environment of its commands."""
    with tempfile.TemporaryDirectory(prefix="maloko-plugins-") as place:
        folder = Path(place)
        (folder / "state").mkdir()
        env = prepare(folder, language, size)
        subprocess.run([MALOKO[language], "stack", "init", "dev"], cwd=folder, env=env, check=True, capture_output=True)
        yield folder, env


def seconds(language: str, size: int) -> dict[str, float]:
    """The wall time of each operation on a fresh stack."""
    with stack(language, size) as (folder, env):

        def run(*arguments: str) -> float:
            begin = time.perf_counter()
            subprocess.run([MALOKO[language], *arguments], cwd=folder, env=env, check=True, capture_output=True)
            return time.perf_counter() - begin

        return {name: run(*arguments) for name, arguments in OPERATIONS.items()}


def own_cpu(command: list[str], folder: Path, env: dict[str, str]) -> float:
    """CPU seconds of the last of two runs of a command, without its children's: plugins are processes of their own."""
    cpu = 0.0
    for _ in range(2):
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # It has ended and is not forgotten yet.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if process.wait() != 0:
            raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}")
    return cpu


def call_cost(language: str, size: int) -> float:
    """What a call of a plugin costs in our process, in microseconds."""
    up = ["up", *FLAGS]
    with stack(language, size) as (folder, env):
        with_calls = own_cpu([str(MALOKO[language]), *up], folder, env)
    with tempfile.TemporaryDirectory(prefix="maloko-plugins-") as place:
        variables = {"BENCH_METHODS": ""}
        bench = Bench(language, Path(place), f"{language}-border", size, passphrase="bench", variables=variables)
        bench.run("stack", "init")
        without = own_cpu([bench.maloko, *up, "--stack", "dev"], bench.folder, bench.env)
    return (with_calls - without) / (2 * size) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--sizes", default="10,1000")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(f"| resources of a plugin, seconds | {' | '.join(OPERATIONS)} |")
    print(f"| --- |{' ---: |' * len(OPERATIONS)}")
    for language in options.languages.split(","):
        for size in map(int, options.sizes.split(",")):
            rounds = [seconds(language, size) for _ in range(options.repeat)]
            middle = (statistics.median(round_[name] for round_ in rounds) for name in OPERATIONS)
            print(f"| {language}, {size:,} | {' | '.join(f'{took:.2f}' for took in middle)} |")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nThe largest process had {peak:.0f} MiB.")
    if sys.platform == "linux":
        size = max(map(int, options.sizes.split(",")))
        print(
            f"\n| a call of a plugin, {size:,} resources | µs of our CPU | least | most |\n| --- | ---: | ---: | ---: |"
        )
        for language in options.languages.split(","):
            costs = [call_cost(language, size) for _ in range(options.repeat)]
            print(f"| {language} | {statistics.median(costs):.0f} | {min(costs):.0f} | {max(costs):.0f} |")


if __name__ == "__main__":
    main()
