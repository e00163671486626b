#!/usr/bin/env python3
"""What policy packs cost: the same program without packs and with them.

    policies.py MALOKO [--resources 1000] [--rounds 5] [--lang python] [--packs python nodejs]

The aim is 1.5 s of wall time more at 1,000 resources. Each pack has a policy that looks at every resource and one that
looks at the stack. Both ways take turns, and the median counts; the rows are Markdown.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from isolated import MODULES, add_stack, project

PYTHON_PACK = """from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy, StackValidationPolicy

def named(args, report):
    if args.props.get("name") == "":
        report("its name is empty")

def few(args, report):
    if len(args.resources) > 100_000:
        report("there are too many")

PolicyPack("NAME", enforcement_level=EnforcementLevel.MANDATORY, policies=[
    ResourceValidationPolicy("named", "Resources have names", named),
    StackValidationPolicy("few", "Stacks are small", few),
])
"""

NODE_PACK = """const policy = require("@pulumi/policy");
new policy.PolicyPack("NAME", { enforcementLevel: "mandatory", policies: [
    { name: "named", description: "Resources have names", enforcementLevel: "mandatory",
      validateResource: (args, report) => { if (args.props.name === "") { report("its name is empty"); } } },
    { name: "few", description: "Stacks are small", enforcementLevel: "mandatory",
      validateStack: (args, report) => { if (args.resources.length > 100000) { report("there are too many"); } } },
] });
"""


def add_packs(folder: Path, languages: list[str]) -> list[str]:
    """Writes a pack for each language, and gives the flags that use them."""
    flags = []
    for number, language in enumerate(languages):
        pack = folder / f"pack-{number}"
        pack.mkdir()
        (pack / "PulumiPolicy.yaml").write_text(f"runtime: {language}\nversion: 1.0.0\n")
        text, file = (PYTHON_PACK, "__main__.py") if language == "python" else (NODE_PACK, "index.js")
        (pack / file).write_text(text.replace("NAME", pack.name))
        if language == "nodejs":
            (pack / "package.json").write_text('{"main": "index.js", "version": "1.0.0"}')
            (pack / "node_modules").symlink_to(MODULES)
        flags += ["--policy-pack", str(pack)]
    return flags


def seconds(maloko: str, language: str, count: int, packs: list[str]) -> float:
    """Wall seconds of a first `up`."""
    with tempfile.TemporaryDirectory(prefix="bench-policies-") as name:
        folder = Path(name)
        project(folder, language, "Plain", True, count)
        flags = add_packs(folder, packs)
        variables = add_stack(maloko, folder)
        begun = time.monotonic()
        command = [maloko, "up", "--yes", "--skip-preview", *flags]
        done = subprocess.run(command, cwd=folder, env=variables, check=False, capture_output=True, text=True)
        taken = time.monotonic() - begun
        if done.returncode != 0 or not all(f"pack-{number}@" in done.stdout for number in range(len(packs))):
            raise RuntimeError(f"the packs, or the program, did not run:\n{done.stdout}{done.stderr}")
        return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maloko", help="the command line to measure")
    parser.add_argument("--resources", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lang", choices=["python", "nodejs"], default="python")
    parser.add_argument("--packs", choices=["python", "nodejs"], nargs="+", default=["python", "nodejs"])
    options = parser.parse_args()
    maloko = str(Path(options.maloko).absolute())
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(options.rounds):
        for with_packs in (False, True) if number % 2 == 0 else (True, False):
            packs = options.packs if with_packs else []
            times[with_packs].append(seconds(maloko, options.lang, options.resources, packs))
    without, with_all = (statistics.median(times[with_packs]) for with_packs in (False, True))
    more, names = with_all - without, " and ".join(options.packs)
    print("| program | packs | resources | without, s | with them, s | more, s |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    print(f"| {options.lang} | {names} | {options.resources:,} | {without:.2f} | {with_all:.2f} | {more:.2f} |")


if __name__ == "__main__":
    main()
