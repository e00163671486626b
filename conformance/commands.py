"""Two ways to run a command line: as a process, as its users do, and inside a process that has run others."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATIENCE = 180
"""How long a command may take, in seconds."""


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


class Processes:
    """Each command line is a process of its own."""

    def __init__(self, cli: list[str]) -> None:
        self.cli = cli

    def run(self, arguments: list[str], directory: Path, variables: Mapping[str, str]) -> Done:
        done = subprocess.run(
            [*self.cli, *arguments],
            cwd=directory,
            env=dict(variables),
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


class Warm:
    """A process that runs one command line after the other, through the library."""

    def __init__(self, cli: list[str], language: str, node_modules: str | None) -> None:
        if language == "python":
            tool = Path(shutil.which(cli[0]) or cli[0])
            command = [str(tool.with_name("python")), str(HERE / "warm_python.py")]
        else:
            command = ["node", str(HERE / "warm_node.cjs"), str(Path(node_modules or "node_modules").absolute())]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, arguments: list[str], directory: Path, variables: Mapping[str, str]) -> Done:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"arguments": arguments, "directory": str(directory), "variables": dict(variables)}
        late = threading.Timer(PATIENCE, self.process.kill)
        late.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        finally:
            late.cancel()
        if not answer:
            raise RuntimeError(f"the process that runs commands ended with {self.process.wait()} at {arguments}")
        told = json.loads(answer)
        return Done(told["code"], told["stdout"], told["stderr"])

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


class WarmOnes:
    """The warm processes of a run: as many as are in use at a time."""

    def __init__(self, cli: list[str], language: str, node_modules: str | None) -> None:
        self.given = (cli, language, node_modules)
        self.idle: queue.SimpleQueue[Warm] = queue.SimpleQueue()

    @contextmanager
    def lent(self) -> Iterator[Warm]:
        """One of them, for a case."""
        try:
            one = self.idle.get_nowait()
        except queue.Empty:
            one = Warm(*self.given)
        try:
            yield one
        finally:
            if one.is_alive:
                self.idle.put(one)

    def close(self) -> None:
        while not self.idle.empty():
            self.idle.get().close()


def own_environment(home: Path) -> dict[str, str]:
    """The environment without what a user has set for stacks, and without a login: state is in the project, and its
    secrets have the project's key file, so that no key is derived from a passphrase again and again."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI", "MALOKO"))}
    # The keys of new stacks take no time. A release does not know of it.
    return {**kept, "HOME": str(home), "MALOKO_CHEAP_KEYS": "1"}
