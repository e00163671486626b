"""How soon a fleet is whole again after `kill -9` of a worker, and how soon a cancelled run reaches the providers.

    python bench/fleet_faults.py [--rounds 5] [--heartbeat 5] [--work 3] [--backend 'postgres://...?lease=5']

A stack's only create takes `--work` seconds. The worker that is at it is killed in the middle; another one begins
again, and does that work anew. What is told is the time from the kill to the end of the run, less the work itself. A
run is cancelled in the middle of a create, too; what is told is the time from the command to the provider's hearing of
it. The server, the workers and what they load are there before. Needs what `bench/fleet.py` needs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python-tests" / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python-tests" / "fleets"))

from fleet_kit import FleetServer, until

PROGRAM = """
import os
from pathlib import Path
import maloko
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

MARKS, WORK = Path(os.environ["BENCH_MARKS"]), float(os.environ["BENCH_WORK"])


class Provider(ResourceProvider):
    def create(self, props):
        (MARKS / f"begun-{os.getpid()}").touch()
        if maloko.current_call().cancelled.wait(WORK):
            (MARKS / "told").touch()
            raise RuntimeError("was told to stop")
        return CreateResult(id_="it", outs=props)


class Item(Resource):
    def __init__(self, name):
        super().__init__(Provider(), name, {"value": 1})


def program():
    Item("it")
"""


class World:
    """A server, and a folder for all rounds."""

    def __init__(self, folder: Path, server: FleetServer, asked: argparse.Namespace) -> None:
        self._folder, self._server, self._asked = folder, server, asked
        self._rounds = 0
        self.marks = folder / "marks"
        (folder / "program.py").write_text(PROGRAM)

    def fleet_file(self, name: str) -> Path:
        """A fleet of one new stack."""
        self._rounds += 1
        backend = self._asked.backend or f"file://{self._folder / 'states'}"
        document = {
            "name": f"{name}-{self._rounds}",
            "engine": f"temporal://{self._server.address}/default",
            "backend": backend,
            "key": "fleet",
            "heartbeat": f"{self._asked.heartbeat:g}s",
            "stacks": [{"project": "bench", "program": "program.py:program", "stack": f"{name}-{self._rounds}"}],
        }
        file = self._folder / f"{document['name']}.yaml"
        file.write_text(json.dumps(document))
        for mark in self.marks.iterdir():
            mark.unlink()
        return file

    @contextmanager
    def workers(self, file: Path, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
        """So many, that ask for work."""
        command = [sys.executable, "-m", "maloko", "fleet", "worker", "--file", str(file), "--slots", "1"]
        found = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(count)]
        try:
            self._server.wait_for_workers(file, count)
            yield found
        finally:
            for worker in found:
                worker.terminate()
            for worker in found:
                worker.wait()

    def begun(self) -> int:
        """The process that is at the create."""
        until(lambda: list(self.marks.glob("begun-*")), "the create")
        return int(next(self.marks.glob("begun-*")).name.removeprefix("begun-"))


def kill(world: World, work: float) -> float:
    """Seconds from the kill to the end, less the work."""
    from maloko import fleet

    file = world.fleet_file("kill")
    with world.workers(file, 2):
        run = fleet.load(file).up()
        lost = world.begun()
        time.sleep(work / 2)
        os.kill(lost, signal.SIGKILL)
        began = time.monotonic()
        result = run.result()
        seconds = time.monotonic() - began
        result.raise_for_failures()
        assert result.ends[0].attempts == 2, result.ends
    return seconds - work


def cancel(world: World) -> float:
    """Seconds from the command to the provider."""
    from maloko import fleet

    file = world.fleet_file("cancel")
    with world.workers(file, 1):
        run = fleet.load(file).up()
        world.begun()
        began = time.monotonic()
        run.cancel()
        until((world.marks / "told").exists, "the provider's hearing of it")
        seconds = time.monotonic() - began
        assert run.result().outcome == "cancelled"
    return seconds


def main() -> None:
    """Prints medians, and each round's figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument(
        "--heartbeat", type=float, default=5, help="seconds without a sign after which a worker is dead"
    )
    options.add_argument("--work", type=float, default=3, help="seconds of the create")
    options.add_argument("--backend", help="else a directory")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="maloko-bench-") as name:
        folder = Path(name)
        for part in ("marks", "states"):
            (folder / part).mkdir()
        os.environ |= {
            "PULUMI_CONFIG_PASSPHRASE": "bench",
            "PULUMI_HOME": str(folder / "home"),
            "BENCH_MARKS": str(folder / "marks"),
        }
        server = FleetServer(folder)
        server.start()
        try:
            world = World(folder, server, asked)
            os.environ["BENCH_WORK"] = str(asked.work)
            killed = [kill(world, asked.work) for _ in range(asked.rounds)]
            # Nobody waits for this one's end.
            os.environ["BENCH_WORK"] = "60"
            cancelled = [cancel(world) for _ in range(asked.rounds)]
        finally:
            server.stop()
    for what, seconds in (("kill -9 to whole, less the work", killed), ("cancel to the provider", cancelled)):
        each = ", ".join(f"{second:.1f}" for second in seconds)
        print(f"{what}: {statistics.median(seconds):.1f} s ({each}), heartbeat {asked.heartbeat:g} s")


if __name__ == "__main__":
    main()
