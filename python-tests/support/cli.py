"""Drives the installed `maloko` in a project of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import warm

MALOKO = [sys.executable, "-m", "maloko"]
MAX_SECONDS = 250
"""A command that takes longer hangs, also on a busy machine."""


FOR_TESTS = {
    # Plugins start slowly beside many others.
    "MALOKO_PLUGIN_START_SECONDS": "240",
    # The keys of new stacks take no time. A release does not know of it.
    "MALOKO_CHEAP_KEYS": "1",
}
"""What the engine is told in tests, in whatever process it runs."""


def completed(words: list[str], directory: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, without anything to read."""
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        running = warm.start(words, directory, variables, stdout, stderr)
        hangs = False
        try:
            running.wait(MAX_SECONDS)
        except subprocess.TimeoutExpired:
            hangs = True
            running.send_signal(signal.SIGABRT)
            running.wait()
        for file in (stdout, stderr):
            file.seek(0)
        done = subprocess.CompletedProcess(words, running.returncode, stdout.read(), stderr.read())
    assert not hangs, f"{words} runs after {MAX_SECONDS} s:\n{done.stdout}\n{done.stderr}"
    return done


class Project:
    """A project directory with its own state."""

    def __init__(self, directory: Path, name: str = "trial") -> None:
        self.directory = directory
        self.write("Pulumi.yaml", f"name: {name}\nruntime: python\n")
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("PULUMI", "MALOKO"))},
            "HOME": str(directory / "home"),
            "NO_COLOR": "1",
            # No test asks a server of the internet for a plugin.
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            **FOR_TESTS,
        }

    def write(self, name: str, text: str) -> Path:
        file = self.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def variables(self, arguments: Iterable[str] = (), **environment: str) -> dict[str, str]:
        """The environment of a command. Only the project's own state has a key file, whose key is derived once."""
        variables = {**self.environment, **environment}
        elsewhere = "--backend" in arguments or variables.keys() & {"PULUMI_BACKEND_URL", "MALOKO_BACKEND_URL"}
        if elsewhere and "PULUMI_CONFIG_PASSPHRASE_FILE" not in variables:
            variables.setdefault("PULUMI_CONFIG_PASSPHRASE", "test")
        return variables

    def run(self, *arguments: str, code: int | None = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a command; `code` is the exit code that it must have, `None` for any."""
        done = self._spawned([*MALOKO, *arguments], environment)
        assert code is None or done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def run_through(self, shell: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command, `"$@"`, through a line of shell."""
        return self._spawned(["/bin/sh", "-c", shell, "sh", *MALOKO, *arguments], {})

    def _spawned(self, words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        # A command that is aborted says what each of its threads is at.
        variables = self.variables(words, **{"PYTHONFAULTHANDLER": "1", **environment})
        return completed(words, self.directory, variables)

    def failing(self, *arguments: str, **environment: str) -> str:
        """Runs a command that must fail; what it said."""
        done = self.run(*arguments, code=None, **environment)
        assert done.returncode != 0, done.stdout
        return done.stdout + done.stderr

    def events(self, *arguments: str) -> list[dict[str, object]]:
        """The events of a command with `--json`."""
        # Not `splitlines`: texts may hold other ends of lines.
        return [json.loads(line) for line in self.run(*arguments, "--json").stdout.split("\n") if line]

    def state(self) -> str:
        """The stack file as it stands."""
        return next((self.directory / ".maloko").rglob("stacks/*/dev.json")).read_text()


def begin(project: Project, *arguments: str) -> subprocess.Popen[str]:
    """Begins a command, to be interrupted or watched."""
    return subprocess.Popen(
        [*MALOKO, *arguments],
        cwd=project.directory,
        env=project.variables(arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def watched(project: Project, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Watches a project, until the end of the block."""
    watching = begin(project, "watch", "--stack", "dev", *arguments)
    try:
        yield watching
    finally:
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=MAX_SECONDS)


def read_until(running: subprocess.Popen[str], words: str) -> str:
    """Reads on to the line that has these words; what was said until then."""
    assert running.stdout is not None
    said = []
    # Without its process, the reading ends.
    guard = threading.Timer(MAX_SECONDS, running.kill)
    guard.start()
    try:
        for line in running.stdout:
            said.append(line)
            if words in line:
                return "".join(said)
    finally:
        guard.cancel()
    raise AssertionError(f"{words!r} was never said:\n{''.join(said)}")


def wait_for(mark: Path) -> None:
    """Waits until a file is there that a program or provider writes."""
    end = time.monotonic() + MAX_SECONDS
    while not mark.exists():
        assert time.monotonic() < end, f"{mark.name} was never written"
        time.sleep(0.02)
