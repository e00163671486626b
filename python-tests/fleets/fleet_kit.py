"""A fleet under test: its folder, its world of files, a Temporal server of its own, and workers as users start them."""

import asyncio
import base64
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import warm
from cli import MALOKO, completed

PROGRAMS = Path(__file__).parent / "programs"
_SECONDS = 60.0


COMMANDS = 2.0
"""Seconds between two commands that look for something: each is a process that takes half a second of a processor."""


def until(holds: Callable[[], Any], what: str, seconds: float = _SECONDS, pause: float = 0.05) -> Any:
    """Waits for something that other processes do; fails when it does not come."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(pause)
    return found


def stacks_of(count: int, **config: str) -> list[dict[str, Any]]:
    """Tenants `t0`, `t1` and so on, as the fleet's file has them."""
    rows = [{"tenant": f"t{number}"} for number in range(count)]
    return [{"project": "tenant", "program": "tenant.py:tenant", "stack": "{tenant}", "for": rows, "config": config}]


def free_port() -> int:
    """A port that nobody has.

    None of those that the kernel gives to connections: one that waits for a server there may be given the server's own
    port, reach itself, and keep the server from it.
    """
    while True:
        port = random.randrange(20_000, 32_768)
        with contextlib.suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            return port


def children(pid: int) -> list[int]:
    """The processes that a process has started, the first one first."""
    return [int(it) for file in Path(f"/proc/{pid}/task").glob("*/children") for it in file.read_text().split()]


class FleetServer:
    """A development server of Temporal, with its database in a file, or in memory as `fleet dev` has it."""

    def __init__(self, folder: Path, *, in_memory: bool = False) -> None:
        self.database = folder / "temporal.db"
        self._in_memory = in_memory
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """Its process, while it runs."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        command = [str(Path(sys.executable).with_name("temporal")), "server", "start-dev", "--headless"]
        command += ["--ip", "127.0.0.1", "--port", str(self.port), "--log-level", "never"]
        if not self._in_memory:
            # A run is many small writes; nobody needs them after a power failure.
            command += ["--db-filename", str(self.database), "--sqlite-pragma", "synchronous=0"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self._answers, f"the server at {self.address}")

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, "the server ended"
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def wait_for_workers(self, file: Path, count: int) -> None:
        """Waits until so many workers ask for stacks of a fleet."""
        from maloko import fleet
        from maloko.fleet._queues import stack_queue

        plan = fleet.load(file).plan("up")
        queue = stack_queue(plan["fleet"], "default", "python", plan["code"]["python"])
        command = [str(Path(sys.executable).with_name("temporal")), "task-queue", "describe", "--task-queue", queue]
        command += ["--address", self.address, "--task-queue-type", "activity", "--output", "json"]

        def pollers() -> int:
            told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            return len({poller["identity"] for poller in told.get("pollers") or []})

        until(lambda: pollers() >= count, f"{count} workers")

    def payloads(self) -> list[tuple[bool, bytes]]:
        """What is in the payloads of all histories of runs that it keeps, each with whether it was compressed."""
        listed = self._told("workflow", "list")
        histories = [
            self._told(
                "workflow", "show", "--workflow-id", it["execution"]["workflowId"], "--run-id", it["execution"]["runId"]
            )
            for it in listed
        ]
        return list(_opened(histories))

    def _told(self, *words: str) -> Any:
        command = [str(Path(sys.executable).with_name("temporal")), *words, "--address", self.address]
        command += ["--output", "json", "--no-json-shorthand-payloads"]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    def stop(self) -> None:
        """Stops it; its database stays."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


def _opened(document: Any) -> Iterator[tuple[bool, bytes]]:
    """What is in the payloads of a document that the server's command has printed."""
    if isinstance(document, dict) and "data" in document and "metadata" in document:
        data = base64.b64decode(document["data"])
        is_compressed = base64.b64decode(document["metadata"].get("encoding", "")) == b"binary/maloko-zlib"
        yield is_compressed, zlib.decompress(data) if is_compressed else data
    elif isinstance(document, dict | list):
        for member in document.values() if isinstance(document, dict) else document:
            yield from _opened(member)


class Wire:
    """A way to a server on this machine that can be cut: connections stay, and nothing comes through."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._is_open = threading.Event()
        self._is_open.set()
        self._sockets = [socket.create_server(("127.0.0.1", free_port()))]
        self.address = f"127.0.0.1:{self._sockets[0].getsockname()[1]}"
        threading.Thread(target=self._accept, args=(self._sockets[0],), daemon=True).start()

    def cut(self) -> None:
        """From now on nothing comes through."""
        self._is_open.clear()

    def mend(self) -> None:
        """What was sent in the meantime comes, and all that follows."""
        self._is_open.set()

    def close(self) -> None:
        """Ends it, for whoever is connected, too."""
        self.mend()
        for each in self._sockets:
            _hang_up(each)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError), listener:
            while True:
                caller, _ = listener.accept()
                self._sockets.append(caller)
                server = socket.create_connection(("127.0.0.1", self._target))
                self._sockets.append(server)
                for source, sink in ((caller, server), (server, caller)):
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._is_open.wait()
                sink.sendall(data)
        _hang_up(sink)
        source.close()


def _hang_up(each: socket.socket) -> None:
    """Ends a connection, also for a thread that waits for what comes from there."""
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)


class FleetFolder:
    """A folder with a fleet, the programs, and the world that its providers make."""

    def __init__(self, folder: Path, server: FleetServer, name: str) -> None:
        self.folder = folder
        self.server = server
        self.name = name
        self.world = folder / "world"
        self.state = folder / "state"
        self.file = folder / "fleet.yaml"
        self._workers: list[warm.Process] = []
        for made in (self.world, self.state):
            made.mkdir(parents=True)
        (folder / "tenant.py").write_bytes((PROGRAMS / "tenant.py").read_bytes())
        self.variables = {
            **os.environ,
            "WORLD": str(self.world),
            "PULUMI_CONFIG_PASSPHRASE": "passphrase of the tests",
            "PULUMI_HOME": str(folder / "home"),
        }

    def write(self, stacks: list[dict[str, Any]], **settings: Any) -> None:
        """Writes the fleet's file; YAML is JSON, too."""
        document = {
            "name": self.name,
            "engine": f"temporal://{self.server.address}/default",
            "backend": f"file://{self.state}",
            "key": "fleet",
            "heartbeat": "10s",
            "retry": {"provider": 2, "first_wait": "100ms", "longest_wait": "1s"},
            **settings,
            "stacks": stacks,
        }
        self.file.write_text(json.dumps(document, indent=2))

    def file_by_way_of(self, wire: Wire) -> str:
        """Another file of the same fleet, whose workers reach the server by this way."""
        document = json.loads(self.file.read_text())
        document["engine"] = f"temporal://{wire.address}/default"
        file = self.folder / "by-wire.yaml"
        file.write_text(json.dumps(document))
        return str(file)

    def command(self, *arguments: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Runs `maloko fleet ...` in the folder."""
        done = completed([*MALOKO, "fleet", *arguments], self.folder, self.variables)
        assert code is None or done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done

    def beside(self, *arguments: str) -> subprocess.Popen[str]:
        """Begins a command that goes on beside the test."""
        command = [*MALOKO, "fleet", *arguments]
        return subprocess.Popen(command, cwd=self.folder, env=self.variables, stdout=-1, stderr=-1, text=True)

    def run(self, verb: str, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Runs a verb to its end; gives its result, with the ends by stack."""
        return _by_stack(self.command(verb, "--yes", "--json", *arguments, code=code).stdout)

    def results(self, run: str, code: int | None = 0) -> dict[str, Any]:
        """The same of a run that was begun before."""
        return _by_stack(self.command("results", run, "--json", code=code).stdout)

    def stacks_with(self, label: str) -> list[str]:
        """The tenants whose stacks have a label, as `maloko stack ls` tells it beside the fleet."""
        project = self.folder / "tenant"
        project.mkdir(exist_ok=True)
        (project / "Pulumi.yaml").write_text("name: tenant\nruntime: python\n")
        command = [*MALOKO, "stack", "ls", "--label", label, "--json", "--backend", f"file://{self.state}"]
        listed = completed(command, project, self.variables)
        assert listed.returncode == 0, listed.stderr
        return [stack["name"] for stack in json.loads(listed.stdout)]

    def worker(self, *arguments: str, through: Sequence[str] = (), **variables: str) -> warm.Process:
        """Starts a worker, with these variables besides."""
        command, known = [*through, *MALOKO, "fleet", "worker", *arguments], {**self.variables, **variables}
        with (self.folder / f"worker-{len(self._workers)}.log").open("w") as log:
            process = warm.start(command, self.folder, known, log, log)
        self._workers.append(process)
        return process

    def detached(self, verb: str, *arguments: str) -> str:
        """Begins a run, and gives its name."""
        told = self.command(verb, "--yes", "--detach", *arguments).stderr
        return told.split("run ", 1)[1].split(":", 1)[0]

    def detached_after(self, quick: int) -> str:
        """Begins an `up` whose first stacks have ended, each in a moment, so that the others are done in batches."""
        return asyncio.run(self._begun_after(quick))

    async def _begun_after(self, quick: int) -> str:
        from maloko import fleet
        from maloko.fleet._connection import connect
        from maloko.fleet._queues import flow_queue
        from maloko.fleet._wire import RUN

        plan = fleet.load(self.file).plan("up")
        end = {"outcome": "unchanged", "changes": {}, "reason": "", "text": "", "attempts": 1, "seconds": 0.01}
        state: dict[str, Any] = {
            "ends": [{**end, "id": stack["id"]} for stack in plan["stacks"][:quick]],
            **{"tries": {}, "awaits": {}, "changes": {}, "later": [], "turns": [], "givenUp": [], "nextStarts": []},
            **{"wave": 0, "waveBegins": 0.0, "paused": False, "stopped": ""},
        }
        options = {"previewOnly": False, "outputs": False, "message": "", "importFile": ""}
        order = {"plan": plan, "options": options, "began": time.time(), "state": state}
        client = await connect(plan["engine"])
        run = f"{self.name}-up-batches"
        await client.start_workflow(RUN, order, id=run, task_queue=flow_queue(self.name))
        return run

    def objects(self) -> dict[str, int]:
        """How many files each stack has in the world."""
        folders = self.world / "objects"
        return {folder.name: len(list(folder.iterdir())) for folder in folders.iterdir()} if folders.exists() else {}

    def begun(self) -> int:
        """How many stacks have come to their first object."""
        folders = self.world / "objects"
        return sum(1 for _ in folders.iterdir()) if folders.exists() else 0

    def marks(self, kind: str) -> set[str]:
        """The stacks of which the world has a mark: `held`, `told` or `failed`."""
        folder = self.world / kind
        return {mark.name for mark in folder.iterdir()} if folder.exists() else set()

    def let_go(self) -> None:
        """Calls that are held go on."""
        (self.world / "go").touch()

    def assert_whole(self, failed: Iterable[str] = ()) -> None:
        """The states are as the world is: nothing pending, no journal, each object once and in the state.

        :param failed: stacks of which a create may stay open: one that was cut off, and that failed ever since
        """
        states = self.state / ".pulumi" / "stacks"
        known: dict[str, set[str]] = {}
        for file in states.glob("*/*.json"):
            latest = json.loads(file.read_bytes())["checkpoint"]["latest"] or {}
            assert file.stem in failed or not latest.get("pending_operations"), file
            ids = {resource["id"] for resource in latest.get("resources", []) if resource["custom"]}
            known[file.stem] = {name.rsplit("/", 1)[1] for name in ids if "/" in name and "file-" not in name}
        assert not list(states.rglob("*.journal*")), "a journal is left"
        for stack, count in self.objects().items():
            files = {file.name for file in (self.world / "objects" / stack).iterdir()}
            assert files <= known[stack], (stack, count, "an object that no state knows")

    def fetch_states(self, backend: str, project: str, stacks: Iterable[str]) -> None:
        """Copies stacks from a backend into the folder's own, as they are.

        Without a passphrase: what a killed run has left can be made part of a state with it alone.
        """
        place = self.folder / "fetched"
        place.mkdir()
        (place / "Pulumi.yaml").write_text(f"name: {project}\nruntime: python\n")
        variables = {**self.variables, "PULUMI_BACKEND_URL": backend}
        del variables["PULUMI_CONFIG_PASSPHRASE"]
        for stack in stacks:
            command = [*MALOKO, "stack", "migrate", "--to", f"file://{self.state}", "--stack", stack]
            copied = completed(command, place, variables)
            assert copied.returncode == 0, copied.stderr

    def end(self) -> None:
        """Ends the workers."""
        for process in self._workers:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self._workers:
            process.wait(_SECONDS)


def _by_stack(printed: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(printed)
    return {**told, "ends": {end["id"]: end for end in told["ends"]}}
