#!/usr/bin/env python3
"""A run that takes longer than plugins of the Go SDK go on without an answer of the engine.

    minutes.py FOLDER --cli maloko [--minutes 11]

FOLDER is one of `real.py` with the plugin `command`. That plugin asks every five minutes whether the engine is still
there, and ends where it is not told so. Its only resource is a command that takes longer than two of these questions.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import pulumi

class Command(pulumi.CustomResource):
    stdout: pulumi.Output[str]

    def __init__(self, name, create):
        options = pulumi.ResourceOptions(version="1.2.1")
        super().__init__("command:local:Command", name, {"create": create, "stdout": None}, options)

command = Command("slow", "sleep %d; echo awake")
pulumi.export("said", command.stdout)
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--minutes", type=float, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory)
        (project / "Pulumi.yaml").write_text("name: minutes\nruntime: python\n")
        (project / "__main__.py").write_text(PROGRAM % (options.minutes * 60))
        env = {
            **os.environ,
            "PATH": f"{options.folder.resolve()}:{os.environ['PATH']}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }

        def maloko(*words: str) -> str:
            done = subprocess.run([options.cli, *words], cwd=project, env=env, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                print(f"{done.stdout}\n0 passed, 1 failed: {' '.join(words)}")
                sys.exit(1)
            return done.stdout

        maloko("stack", "init", "dev")
        maloko("up", "--yes", "--skip-preview")
        said = maloko("stack", "output", "said").strip()
        maloko("destroy", "--yes", "--skip-preview")
    print("1 passed, 0 failed" if said == "awake" else f"0 passed, 1 failed: the command said {said!r}")
    sys.exit(said != "awake")


if __name__ == "__main__":
    main()
