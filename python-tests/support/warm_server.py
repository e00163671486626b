"""A Python that has loaded what every program loads, and forks off a process for each command that it is asked for.

    python warm_server.py SOCKET MODULE...

The SDK is loaded as `maloko` loads it, and each module after it.

A command comes over a connection of its own: its words after `python`, its directory, its environment and its three
standard streams. What it answers is the process's id, and then its exit code.
"""

import array
import atexit
import contextlib
import faulthandler
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
from typing import NamedTuple

from maloko._sdk.load import load_sdk

STREAMS = 3
MAX_BYTES = 1 << 20


class Command(NamedTuple):
    """What a process is to run, as the module says."""

    words: list[str]
    directory: str
    environment: dict[str, str]
    streams: list[int]


def received(connection: socket.socket) -> Command | None:
    """The command of a connection; `None` for one that ends without."""
    descriptors = array.array("i")
    text, ancillary, _, _ = connection.recvmsg(MAX_BYTES, socket.CMSG_SPACE(STREAMS * descriptors.itemsize))
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    while text and not text.endswith(b"\n"):
        text += connection.recv(MAX_BYTES)
    return Command(*json.loads(text), list(descriptors)) if text else None


def next_command(listener: socket.socket) -> Command:
    """Serves until a process has been forked off: returns in that one alone. Ends when the standard input does."""
    wake_up, woken = socket.socketpair()
    wake_up.setblocking(False)
    signal.set_wakeup_fd(wake_up.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C is for the tests and the commands.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for each in (listener, woken, sys.stdin):
            selector.register(each, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if sys.stdin in ready:
                os._exit(0)
            if woken in ready:
                woken.recv(MAX_BYTES)
                tell_who_ended(running)
            if listener not in ready:
                continue
            connection, _ = listener.accept()
            if (command := received(connection)) is None:
                connection.close()
                continue
            if not (pid := os.fork()):
                break
            running[pid] = connection
            for stream in command.streams:
                os.close(stream)
            tell(connection, pid)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for each in (listener, wake_up, woken, connection, *running.values()):
        each.close()
    return command


def tell_who_ended(running: dict[int, socket.socket]) -> None:
    """Tells the callers of processes that have ended their exit codes, as `subprocess` counts them."""
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with running.pop(pid) as connection:
                tell(connection, os.waitstatus_to_exitcode(status))


def tell(connection: socket.socket, number: int) -> None:
    """Tells a caller a number. One that has gone wants none."""
    with contextlib.suppress(OSError):
        connection.sendall(f"{number}\n".encode())


def become(command: Command, path: list[str]) -> None:
    """Gives this process what `python -m MODULE ARGUMENTS` would have when it begins with the module."""
    for number, stream in enumerate(command.streams):
        os.dup2(stream, number, inheritable=True)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, buffering, std.encoding, std.errors)
        for number, mode, buffering, std in ((0, "r", -1, sys.stdin), (1, "w", -1, sys.stdout), (2, "w", 1, sys.stderr))
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    if command.environment.get("PYTHONUNBUFFERED"):
        for written in (sys.stdout, sys.stderr):
            written.reconfigure(line_buffering=False, write_through=True)
    os.chdir(command.directory)
    os.environ.clear()
    os.environ.update(command.environment)
    if "PYTHONFAULTHANDLER" in command.environment:
        faulthandler.enable()
    more = command.environment.get("PYTHONPATH", "")
    sys.path[:] = [command.directory, *filter(None, more.split(os.pathsep)), *path]
    sys.argv[:] = ["", *command.words[1:]]


def leave(code: int) -> None:
    """Ends as Python does, and lets the system free what is loaded: to do that by hand copies it all, in 20 ms.

    So no object is finalised, and a file that a program has left open is not flushed. At night both are.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        for written in filter(None, (sys.stdout, sys.stderr)):
            written.flush()
        os._exit(code & 0xFF)
    # Python has a code of its own for that.
    sys.exit(code)


def main() -> None:
    address, *modules = sys.argv[1:]
    path = sys.path[1:]
    load_sdk()
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    # It stays out of the collector's sight in each process, too: a page that the collector looks at is copied.
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        command = next_command(listener)
    become(command, path)
    try:
        # What `-m` calls.
        runpy._run_module_as_main(command.words[0])  # type: ignore[attr-defined]
    except SystemExit as leaving:
        if not isinstance(leaving.code, int | None):
            raise
        leave(leaving.code or 0)
    else:
        leave(0)


if __name__ == "__main__":
    main()
