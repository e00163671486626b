"""Processes that a command starts beside itself: workers, and a server for tries."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from maloko.fleet._commands.texts import say
from maloko.fleet._wire import Plan

_END_SECONDS = 60.0
"""How long workers have to end what they are at in order."""
_OPENS_STACKS = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE", "PULUMI_CLOUD_SECRET_OVERRIDE")
_WARNED = "MALOKO_FLEET_WARNED"
"""Is set for processes whose parent has warned in their place."""


def warn_of_environment(plan: Plan, queues: list[str]) -> None:
    """Warns once of what workers at these queues begin without: a passphrase, and variables that have secrets.

    Stacks under a key service need no passphrase, nor do those without a backend: their key is in a file.
    """
    if _WARNED in os.environ:
        return
    os.environ[_WARNED] = "1"
    has_backend = plan["backend"] is not None or "PULUMI_BACKEND_URL" in os.environ
    opens = any(name in os.environ for name in _OPENS_STACKS)
    opens_some = any(name.startswith("MALOKO_PASSPHRASE_") for name in os.environ)
    if has_backend and not opens and not opens_some:
        say("warning: PULUMI_CONFIG_PASSPHRASE is not set here: stacks under a passphrase fail at this worker")
    values = [value for stack in plan["stacks"] if stack["queue"] in queues for value in stack["config"].values()]
    secrets = [value["secretFrom"] for value in values if not isinstance(value, str)]
    missing = sorted({secret["env"] for secret in secrets if "env" in secret} - os.environ.keys())
    if missing:
        say(f"warning: not set here: {', '.join(missing)}. Stacks whose secrets come from there fail at this worker")


def warn_of_queues(plan: Plan, queues: list[str]) -> None:
    """Warns where no stack of the fleet is at a queue that workers are told to serve."""
    known = sorted({stack["queue"] for stack in plan["stacks"]})
    unknown = [queue for queue in queues if queue not in known]
    if unknown and _WARNED not in os.environ:
        say(
            f"warning: no stack of the fleet is at the queue {', '.join(unknown)}: a worker gets nothing there; "
            f"the fleet's stacks are at {', '.join(known)}"
        )


def start_worker(file: str, queues: list[str], slots: int | None, stdout: int | None = None) -> subprocess.Popen[bytes]:
    """Starts a worker in a process of its own.

    :param stdout: the descriptor for what it writes there, in place of that of this process
    """
    command = [sys.executable, "-m", "maloko", "fleet", "worker", "--file", file]
    command += [part for queue in queues for part in ("--queue", queue)]
    command += [] if slots is None else ["--slots", str(slots)]
    # Ctrl-C reaches the command, which tells the workers when it is their turn.
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, start_new_session=True)


def end(processes: list[subprocess.Popen[bytes]]) -> None:
    """Ends processes in order, and waits for them."""
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"process {process.pid} did not end within {_END_SECONDS:.0f} s and is killed")
            process.kill()
            process.wait()
