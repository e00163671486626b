"""What tests fork off in place of a new Python begins as a new one does, and ends as one."""

# All in Python alone: in Node each command of a test is a process that begins anew

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import warm
from cli import MALOKO, wait_for

LOOKS = """
import faulthandler, gc, json, os, resource, signal, sys, threading

# Python asks for their handlers when it starts, and so before or after faulthandler has set its own.
fatal = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV}
streams = [sys.stdin, sys.stdout, sys.stderr]
state = {
    "arguments": sys.argv,
    "path": sys.path,
    "flags": list(sys.flags),
    "module": [__name__, __file__, __spec__.name],
    "directory": os.getcwd(),
    "environment": dict(os.environ),
    "group": [os.getpgid(0), os.getsid(0)],
    "umask": os.umask(0o22),
    "limits": resource.getrlimit(resource.RLIMIT_NOFILE),
    "signals": {int(number): str(signal.getsignal(number)) for number in signal.valid_signals() - fatal},
    "masked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "threads": [len(threading.enumerate()), len(os.listdir("/proc/self/task"))],
    # The list has a descriptor of its own.
    "descriptors": sorted(int(number) for number in os.listdir("/proc/self/fd"))[:-1],
    "streams": [[it.fileno(), it.mode, it.encoding, it.errors, it.line_buffering, it.isatty()] for it in streams],
    "faults": faulthandler.is_enabled(),
    "collector": [gc.isenabled(), gc.get_threshold()],
    "recursion": sys.getrecursionlimit(),
}
print(json.dumps(state))
sys.exit(3)
"""
SERVERS = {"commands": warm.OF_COMMANDS, "fleets": warm.OF_FLEETS, "test runs": warm.OF_TEST_RUNS}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One that has more than ours, and less."""
    (tmp_path / "looks.py").write_text(LOOKS)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MALOKO")}
    return {**kept, "PYTHONFAULTHANDLER": "1", "PYTHONPATH": str(tmp_path / "more"), "OF_THIS_TEST": "yes"}


@pytest.mark.parametrize("server", SERVERS)
def test_a_forked_process_is_as_a_new_one(server: str, tmp_path: Path, environment: dict[str, str]) -> None:
    words = ["looks", "one", "two"]

    def forked(stdout: Any) -> "warm.WarmProcess":
        return SERVERS[server].start(words, tmp_path, environment, stdout, stdout)

    def new(stdout: Any) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", *words]
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stdout,
            text=True,
            # A shell that begins the tests in the background has them ignore it. Forked commands always hear of it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    told: list[dict[str, Any]] = []
    for begin in (forked, new):
        with tempfile.TemporaryFile("w+") as stdout:
            assert begin(stdout).wait() == 3
            stdout.seek(0)
            told.append(json.load(stdout))

    assert told[0] == told[1]
    assert told[0]["environment"]["OF_THIS_TEST"] == "yes"


def test_a_forked_process_is_killed_as_any_other(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "sleeps.py").write_text("import pathlib, signal\npathlib.Path('here').touch()\nsignal.pause()\n")
    with tempfile.TemporaryFile("w+") as stdout:
        process = warm.OF_COMMANDS.start(["sleeps"], tmp_path, environment, stdout, stdout)
        try:
            wait_for(tmp_path / "here")
            assert process.poll() is None
            process.terminate()
            assert process.wait() == -signal.SIGTERM
            assert process.poll() == -signal.SIGTERM
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("name", "value"), [("PYTHONUTF8", "1"), ("GRPC_VERBOSITY", "debug"), ("TZ", "UTC+3"), ("PYTHONPATH", "at_start")]
)
def test_what_counts_while_python_starts_begins_anew(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MALOKO_LONG", raising=False)
    (tmp_path / "at_start").mkdir()
    (tmp_path / "at_start" / "sitecustomize.py").touch()
    value = str(tmp_path / value) if name == "PYTHONPATH" else value
    with tempfile.TemporaryFile("w+") as stdout:
        process = warm.start([*MALOKO, "--version"], tmp_path, {**os.environ, name: value}, stdout, stdout)
        assert isinstance(process, subprocess.Popen)
        assert process.wait() == 0


def test_each_command_is_forked_off_what_has_loaded_its_modules() -> None:
    assert warm.server_for(["maloko", "fleet", "status"]) is warm.OF_FLEETS
    assert warm.server_for(["maloko", "up"]) is warm.OF_COMMANDS
    assert warm.server_for(["pytest", "-q"]) is warm.OF_TEST_RUNS
