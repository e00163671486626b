"""What `destroy` and `refresh` take where the program imports a large SDK: `pulumi_aws`, or `@pulumi/aws`.

    python bench/large_sdk.py                      both languages, the SDKs from their registries
    python bench/large_sdk.py --languages nodejs --repeat 5

The packages go into a temporary folder. Prints a table for docs/internals/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The provider has a file of its own, where it is found without the program.
PYTHON = {
    "__main__.py": """import pulumi_aws
from things import Thing

Thing("thing", pulumi_aws.s3.Bucket.__name__)
""",
    "things.py": """from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)

    def read(self, id, props):
        return ReadResult(id, props)


class Thing(Resource):
    def __init__(self, name, text):
        super().__init__(Provider(), name, {"text": text})
""",
}
NODE = {
    "index.ts": """import * as aws from "@pulumi/aws";
import { Thing } from "./things";

new Thing("thing", typeof aws.s3.Bucket);
""",
    "things.ts": """import * as pulumi from "@pulumi/pulumi";

class Provider {
    async create(inputs: object) { return { id: "made", outs: inputs }; }
    async read(id: string, props: object) { return { id, props }; }
}
export class Thing extends pulumi.dynamic.Resource {
    constructor(name: string, text: string) { super(new Provider(), name, { text }); }
}
""",
    "package.json": json.dumps({"name": "bench", "main": "index.ts"}),
}
FLAGS = {
    "with a preview": ["--yes"],
    "`--skip-preview`": ["--yes", "--skip-preview"],
    "`--no-program`": ["--yes", "--no-program"],
}


def prepare(folder: Path, language: str) -> list[str]:
    """A project with the SDK, and the command that runs it."""
    (folder / "Pulumi.yaml").write_text(f"name: bench\nruntime: {language}\n")
    for name, text in (PYTHON if language == "python" else NODE).items():
        (folder / name).write_text(text)
    if language == "python":
        pip = [
            str(ROOT / ".venv" / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--target",
            str(folder / "sdk"),
        ]
        subprocess.run([*pip, "--no-deps", "pulumi-aws==6.83.0"], check=True)
        subprocess.run([*pip, "parver==0.5"], check=True)
        return [str(ROOT / ".venv" / "bin" / "maloko")]
    npm = ["npm", "install", "--no-save", "--silent", "--no-audit", "--no-fund"]
    subprocess.run([*npm, "@pulumi/aws@6.83.0", "@pulumi/pulumi@3.276.0"], cwd=folder, check=True)
    return [str(ROOT / "node-tests" / "node_modules" / ".bin" / "maloko")]


def seconds(command: list[str], folder: Path) -> float:
    environment = {
        **os.environ,
        "PULUMI_BACKEND_URL": f"file://{folder}/state",
        "PULUMI_CONFIG_PASSPHRASE": "bench",
        "PYTHONPATH": str(folder / "sdk"),
        "NO_COLOR": "1",
    }
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def measure(folder: Path, maloko: list[str], verb: str, flags: list[str], repeat: int) -> float:
    """The median of whole processes in seconds; each begins with the resource made."""
    taken = []
    for _ in range(repeat):
        seconds([*maloko, "up", "--yes", "--skip-preview", "--stack", "dev"], folder)
        taken.append(seconds([*maloko, verb, *flags, "--stack", "dev"], folder))
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", nargs="*", default=["python", "nodejs"])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print(f"| language | command | {' | '.join(FLAGS)} |\n| --- | --- |{' --- |' * len(FLAGS)}")
    for language in arguments.languages:
        folder = Path(tempfile.mkdtemp(prefix="maloko-bench-"))
        try:
            maloko = prepare(folder, language)
            (folder / "state").mkdir()
            seconds([*maloko, "stack", "init", "dev"], folder)
            for verb in ("refresh", "destroy"):
                row = [measure(folder, maloko, verb, flags, arguments.repeat) for flags in FLAGS.values()]
                print(f"| {language} | `{verb}` | {' | '.join(f'{value:.1f} s' for value in row)} |", flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
