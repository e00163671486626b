#!/usr/bin/env python3
"""What `--isolated` costs: the same programs in the engine's process and in one of their own.

    isolated.py MALOKO [--resources 1000] [--rounds 3] [--lang python]

The aim is a ratio of 1.5 of wall time at most. A provider object for each resource and one for all, with `check` and
`diff` and without. Both ways take turns, and the median counts; the rows are Markdown.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from itertools import product
from pathlib import Path

PYTHON = """import pulumi
from pulumi.dynamic import CheckResult, CreateResult, DiffResult, Resource, ResourceProvider

class Plain(ResourceProvider):
    def create(self, props):
        return CreateResult(props["name"], props)

class Full(Plain):
    def check(self, olds, news):
        return CheckResult(news, [])

    def diff(self, id, olds, news):
        return DiffResult(changes=olds["name"] != news["name"])

class Thing(Resource):
    def __init__(self, provider, name):
        super().__init__(provider, name, {"name": name})

kind = KIND
shared = kind()
for number in range(COUNT):
    Thing(shared if SHARED else kind(), f"r{number}")
"""

NODEJS = """const pulumi = require("@pulumi/pulumi");
class Plain {
    async create(inputs) { return { id: inputs.name, outs: inputs }; }
}
class Full extends Plain {
    async check(_olds, news) { return { inputs: news }; }
    async diff(_id, olds, news) { return { changes: olds.name !== news.name }; }
}
class Thing extends pulumi.dynamic.Resource {
    constructor(provider, name) { super(provider, name, { name }); }
}
const kind = KIND;
const shared = new kind();
for (let number = 0; number < COUNT; number++) {
    new Thing(SHARED ? shared : new kind(), `r${number}`);
}
"""
MODULES = Path(__file__).resolve().parent.parent / "node-tests" / "node_modules"


def project(folder: Path, language: str, kind: str, shared: bool, count: int) -> None:
    """Writes a project, of which nothing is deployed yet."""
    text, file = (PYTHON, "__main__.py") if language == "python" else (NODEJS, "index.js")
    truth = str(shared) if language == "python" else str(shared).lower()
    text = text.replace("KIND", kind).replace("COUNT", str(count)).replace("SHARED", truth)
    (folder / file).write_text(text)
    (folder / "Pulumi.yaml").write_text(f"name: bench\nruntime: {language}\n")
    if language == "nodejs":
        (folder / "package.json").write_text("{}")
        (folder / "node_modules").symlink_to(MODULES)


def add_stack(maloko: str, folder: Path) -> dict[str, str]:
    """Makes the project's stack, and gives the variables with which its commands run."""
    variables = {**os.environ, "HOME": str(folder), "NO_COLOR": "1"}
    subprocess.run([maloko, "stack", "init", "dev"], cwd=folder, env=variables, check=True, capture_output=True)
    return variables


def seconds(maloko: str, language: str, kind: str, shared: bool, count: int, flags: list[str]) -> tuple[float, float]:
    """Wall seconds of a first `up`, and of one that changes nothing."""
    with tempfile.TemporaryDirectory(prefix="bench-isolated-") as name:
        folder = Path(name)
        project(folder, language, kind, shared, count)
        variables = add_stack(maloko, folder)
        taken = []
        for _ in range(2):
            begun = time.monotonic()
            command = [maloko, "up", "--yes", "--skip-preview", *flags]
            subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True)
            taken.append(time.monotonic() - begun)
        return taken[0], taken[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maloko", help="the command line to measure")
    parser.add_argument("--resources", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lang", choices=["python", "nodejs"], default="python")
    options = parser.parse_args()
    maloko = str(Path(options.maloko).absolute())
    print(f"| {options.resources} resources, {options.lang} | operation | in process, s | isolated, s | ratio |")
    print("| --- | --- | --- | --- | --- |")
    for shared, kind in product((False, True), ("Full", "Plain")):
        times: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
        for number in range(options.rounds):
            for isolated in (False, True) if number % 2 == 0 else (True, False):
                flags = ["--isolated"] if isolated else []
                times[isolated].append(seconds(maloko, options.lang, kind, shared, options.resources, flags))
        whose = "one provider" if shared else "a provider each"
        what = f"{whose}, {'check and diff' if kind == 'Full' else 'create alone'}"
        for at, operation in enumerate(("up", "no-op up")):
            here, apart = (statistics.median(taken[at] for taken in times[isolated]) for isolated in (False, True))
            print(f"| {what} | {operation} | {here:.2f} | {apart:.2f} | {apart / here:.2f} |", flush=True)


if __name__ == "__main__":
    main()
