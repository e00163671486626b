"""Drives the examples through the built command lines, as a user would: for tests, the demo and the kill test."""

from __future__ import annotations

import atexit
import functools
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
LANGUAGES = ("python", "nodejs")
TIMEOUT = 120
NOT_COPIED = shutil.ignore_patterns("node_modules", "venv", "__pycache__", "state")
TEMPORAL = ROOT / ".venv" / "bin" / "temporal"
"""The server of fleets, which requirements-dev.txt brings."""


class Project:
    """A copy of an example in a folder of its own, with its own state, and the plugins of the examples beside it.

    :param passphrase: what its secrets are encrypted with; without one, the project has a key file, whose key needs not
        be derived by each command
    """

    def __init__(self, language: str, example: str, folder: Path, passphrase: str | None = None) -> None:
        self.language = language
        source = EXAMPLES / ("python" if language == "python" else "typescript")
        # As deep as it is there: it names its plugins by relative paths.
        self.folder = folder / source.name / example
        shutil.copytree(source / example, self.folder, ignore=NOT_COPIED)
        manifest = self.folder / "Pulumi.yaml"
        if manifest.exists() and "../plugins/" in manifest.read_text():
            copy_plugins(folder / "plugins")
        if language == "python":
            self.cli = ROOT / ".venv" / "bin" / "maloko"
        else:
            (self.folder / "node_modules").symlink_to(source / "node_modules")
            self.cli = source / "node_modules" / ".bin" / "maloko"
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PULUMI", "MALOKO"))},
            "HOME": str(folder / "home"),
            "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        if passphrase is not None:
            self.env |= {
                "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
                "PULUMI_CONFIG_PASSPHRASE": passphrase,
            }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the command line and waits for it."""
        return subprocess.run(
            [self.cli, *arguments],
            cwd=self.folder,
            env=self.env,
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT,
        )

    def must(self, *arguments: str) -> str:
        """Runs a command that has to succeed; gives its standard output."""
        done = self.run(*arguments)
        if done.returncode != 0:
            raise AssertionError(f"maloko {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def up(self) -> dict[str, int]:
        """Updates; gives the counts of the summary by operation."""
        return changes_of(self.must("up", "--yes", "--skip-preview", "--json"))

    def preview(self) -> dict[str, int]:
        """Previews; gives the counts that an update would have."""
        digest = json.loads(self.must("preview", "--json"))
        return {op: count for op, count in digest["changeSummary"].items() if count}

    def refresh(self) -> dict[str, int]:
        """Refreshes; gives the counts of the summary by operation."""
        return changes_of(self.must("refresh", "--yes", "--skip-preview", "--json"))

    def destroy(self) -> dict[str, int]:
        """Destroys; gives the counts of the summary by operation."""
        return changes_of(self.must("destroy", "--yes", "--skip-preview", "--json"))

    def outputs(self) -> Any:
        """The stack's outputs."""
        return json.loads(self.must("stack", "output", "--json"))

    def state(self) -> list[dict[str, Any]]:
        """The resources of the exported state."""
        exported = json.loads(self.must("stack", "export"))
        return exported["deployment"].get("resources") or []


class Fleet(Project):
    """A copy of the fleet, for a server on a port that nobody has."""

    def __init__(self, language: str, folder: Path) -> None:
        super().__init__(language, "fleet", folder)
        self.env["PULUMI_CONFIG_PASSPHRASE"] = "the key of the fleet"
        self.port = _free_port()
        self.replace("fleet.yaml", "127.0.0.1:7233", f"127.0.0.1:{self.port}")

    def replace(self, file: str, old: str, new: str) -> None:
        """Changes what a file of the fleet says."""
        text = (self.folder / file).read_text()
        assert old in text, f"{file} does not say {old}"
        (self.folder / file).write_text(text.replace(old, new))

    @contextmanager
    def served(self) -> Iterator[None]:
        """Has a server and two workers until the block ends: `maloko fleet dev`, whose output is in dev.log."""
        log = self.folder.parent / "dev.log"
        with log.open("wb") as output:
            command = [str(self.cli), "fleet", "dev", "--ui-port", str(_free_port())]
            dev = subprocess.Popen(command, cwd=self.folder, env=self.env, stdout=output, stderr=output)
        try:
            end = time.monotonic() + TIMEOUT
            while not self._answers():
                if dev.poll() is not None or time.monotonic() > end:
                    raise AssertionError(f"maloko fleet dev: {log.read_text()}")
                time.sleep(0.05)
            # The first run waits until there are workers.
            self.must("fleet", "preview", "--stack", "region/*", "--json")
            yield
        finally:
            dev.send_signal(signal.SIGINT)
            try:
                dev.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                dev.kill()
                raise

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True


def _free_port() -> int:
    # The kernel gives none of these to connections: one that waits for a server at its own port would reach itself.
    while True:
        port = random.randrange(20_000, 32_768)
        with suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            return port


def copy_plugins(folder: Path) -> None:
    """Puts the sources of the plugins there; what is installed for the examples is installed for them, too."""
    if folder.exists():
        return
    shutil.copytree(EXAMPLES / "plugins", folder, ignore=NOT_COPIED)
    (folder / "vault" / "venv").symlink_to(ROOT / ".venv")
    (folder / "team" / "node_modules").symlink_to(EXAMPLES / "typescript" / "node_modules")


def changes_of(events: str) -> dict[str, int]:
    """The counts of the last summary among engine events, one a line."""
    found: dict[str, int] = {}
    for line in events.splitlines():
        event = json.loads(line)
        if "summaryEvent" in event:
            found = {op: n for op, n in (event["summaryEvent"].get("resourceChanges") or {}).items() if n}
    return found


Setting = tuple[str, ...]
"""The arguments of `config set`."""


@functools.cache
def _template(language: str, example: str, passphrase: str | None, settings: tuple[Setting, ...]) -> Path:
    """A folder in which an example has a stack with these settings."""
    folder = Path(tempfile.mkdtemp(prefix="maloko-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    project = Project(language, example, folder, passphrase)
    project.must("stack", "init", "dev")
    for setting in settings:
        project.must("config", "set", *setting)
    return folder


def with_stack(language: str, example: str, folder: Path, *settings: Setting, passphrase: str | None = None) -> Project:
    """An example with a stack that has these settings; both are copies of those that were made first."""
    project = Project(language, example, folder, passphrase)
    template = _template(language, example, passphrase, settings)
    shutil.copytree(template, folder, ignore=shutil.ignore_patterns("node_modules", "plugins"), dirs_exist_ok=True)
    return project


def labels_project(
    language: str, folder: Path, url: str, token: str | None = "right", passphrase: str | None = None
) -> Project:
    """The repository-labels example with a stack that points to a local service."""
    nowhere = "http://127.0.0.1:1"
    settings: list[Setting] = [("githubApi", nowhere), ("secondsBetweenWrites", "0")]
    if token is not None:
        settings.append(("--secret", "githubToken", token))
    project = with_stack(language, "repository-labels", folder, *settings, passphrase=passphrase)
    file = project.folder / "Pulumi.dev.yaml"
    file.write_text(file.read_text().replace(f"{nowhere}\n", f"{url}\n"))
    return project
