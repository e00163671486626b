#!/usr/bin/env python3
"""The real `pulumi` and maloko in turns on stacks whose keys are kept by each of the four key services.

    key_turns.py FOLDER --cli maloko

FOLDER is what real.py made. Each tool makes a stack, and the other one reads and writes its secrets, deploys it and
changes its key. The services are those of the tests, on this machine. `pulumi` has fixed addresses for Azure Key Vault
and Google Cloud KMS, so both tools reach these by a proxy.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python-tests" / folder) for folder in ("keys", "support")]
from intercepting_proxy import intercepting_proxy  # noqa: E402 (the helpers of the tests)
from key_servers import key_management_service, key_servers  # noqa: E402

# Each is the first key of a stack, and the key that the former one is changed to.
RING = (
    "awskms://alias/one?context_team=a b&region=us-east-1",
    "azurekeyvault://throwaway.vault.azure.net/keys/one",
    "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/one?additional_authenticated_data=dGVhbT9-fg==",
    "hashivault://one",
)
PROGRAM = """import pulumi

pulumi.export("told", pulumi.Config().require_secret("word"))
"""


class Stack:
    """A stack that both tools work on."""

    def __init__(self, tools: dict[str, str], variables: dict[str, str], folder: Path) -> None:
        self.tools, self.folder = tools, folder
        self.env = {
            **os.environ,
            **variables,
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{folder}/state",
            "PULUMI_STACK": "dev",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "NO_COLOR": "1",
            "PATH": f"{Path(tools['pulumi']).parent}:{os.environ['PATH']}",
        }
        (folder / "state").mkdir(parents=True)
        (folder / "Pulumi.yaml").write_text("name: turns\nruntime: python\n")
        (folder / "__main__.py").write_text(PROGRAM)

    def run(self, tool: str, *words: str) -> str:
        command = [self.tools[tool], *words]
        done = subprocess.run(command, cwd=self.folder, env=self.env, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{tool} {' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def both_read(self, text: str) -> None:
        """Both read the configuration and the output, and neither has anything to do."""
        for tool in self.tools:
            for words in (["config", "get", "word"], ["stack", "output", "told", "--show-secrets"]):
                said = self.run(tool, *words)
                if said != text:
                    raise SystemExit(f"{tool} {' '.join(words)} says {said!r} in place of {text!r}")
            self.run(tool, "preview", "--expect-no-changes")


def play(stack: Stack, first: str, second: str, urls: tuple[str, str]) -> None:
    """The first one makes the stack under the one key, the second one takes it to the other, and the first one back."""
    stack.run(first, "stack", "init", "dev", "--secrets-provider", urls[0])
    stack.run(first, "config", "set", "--secret", "word", "one")
    stack.run(first, "up", "--yes", "--skip-preview")
    stack.both_read("one")
    stack.run(second, "config", "set", "--secret", "word", "two")
    stack.run(second, "up", "--yes", "--skip-preview")
    stack.both_read("two")
    for tool, url in ((second, urls[1]), (first, urls[1]), (first, urls[0]), (second, urls[0])):
        stack.run(tool, "stack", "change-secrets-provider", url)
        stack.both_read("two")
    stack.run(second, "destroy", "--yes", "--skip-preview")
    stack.run(first, "stack", "rm", "dev", "--yes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cli", required=True)
    given = parser.parse_args()
    tools = {"pulumi": str(given.folder.resolve() / "pulumi"), "maloko": given.cli}
    with ExitStack() as running:
        aws, others = running.enter_context(key_management_service()), running.enter_context(key_servers())
        certificates = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="key-turns-")))
        reached = running.enter_context(intercepting_proxy(others, certificates))
        variables = others.credentials | aws.may_all | reached
        for first, second in (("pulumi", "maloko"), ("maloko", "pulumi")):
            for urls in zip(RING, RING[1:] + RING[:1], strict=True):
                with tempfile.TemporaryDirectory(prefix="key-turns-") as name:
                    play(Stack(tools, variables, Path(name) / "project"), first, second, urls)
                print(f"{first} first, {urls[0].split(':')[0]} to {urls[1].split(':')[0]}: both read it at every turn")


if __name__ == "__main__":
    main()
