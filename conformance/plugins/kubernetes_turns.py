#!/usr/bin/env python3
"""The real `pulumi` and maloko in turns on one stack with resources of Kubernetes, rendered as YAML without a cluster.

    kubernetes_turns.py FOLDER --cli maloko --lang python,nodejs --node-modules DIR [--sdk made,official]

FOLDER is what real.py made: pulumi, hosts, kubernetes. The SDK is made of the plugin's schema, or the official one
that is installed. The rendered files are compared like the states.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from run import HERE
from turns import Stack, arguments, take_turns

# Where an SDK makes an object of a reference (the children of a component), it asks the engine for the resource. That
# request leaves a provider in the reference's state that no resource has; maloko has none.
LOOKUPS = "pulumi:providers:pulumi"


class Rendered(Stack):
    program = "kubernetes"
    failing = ("refresh",)  # the plugin asks the cluster

    def __init__(self, options, language):
        super().__init__(options, language)
        shutil.copytree(HERE / "kubernetes/chart", self.project / "chart")
        if options.made and language == "python":
            self.env["PYTHONPATH"] = f"{options.made / language}:{os.environ.get('PYTHONPATH', '')}"
        elif options.made:
            link = self.project / "node_modules/@pulumi/kubernetes"
            link.unlink(missing_ok=True)
            link.symlink_to(options.made / language)

    def resources(self):
        """The states, and the files as if they were one more."""
        folder = self.project / "rendered"
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        texts = {named(str(file.relative_to(folder))): named(file.read_text()).splitlines() for file in files}
        states = {urn: state for urn, state in super().resources().items() if state["type"] != LOOKUPS}
        return {**states, "files": texts}


def named(text):
    """A text without the random part of a name that the plugin made."""
    return re.sub(r"\bsettings-[0-9a-f]{8}\b", "settings-RANDOM", text)


def make(options, language, folder):
    env = {**os.environ, "PATH": f"{options.folder}:{os.environ['PATH']}", "PULUMI_HOME": str(folder / "home")}
    words = ["package", "gen-sdk", "kubernetes", "--language", language, "--out", folder]
    subprocess.run([options.cli, *words], cwd=folder, env=env, check=True)
    if language == "nodejs":
        # What the SDK itself asks for is looked for above it.
        (folder / "node_modules").symlink_to(Path(options.node_modules).resolve())


def main():
    parser = arguments()
    parser.add_argument("--sdk", default="made,official")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    bad = 0
    for language in options.lang.split(","):
        for sdk in options.sdk.split(","):
            print(f"{language}: the {sdk} SDK", flush=True)
            with tempfile.TemporaryDirectory(prefix="kubernetes-sdk-") as folder:
                options.made = Path(folder) if sdk == "made" else None
                if options.made:
                    make(options, language, options.made)
                bad += take_turns(Rendered, options, language)
    print(f"{bad} differences")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
