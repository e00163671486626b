"""How long `maloko stack ls` takes over many stacks, and how much memory, in each kind of backend.

    python bench/stacks.py [--stacks 10000] [--resources 20] [--rounds 3] [--kinds directory postgresql s3 azure]
                           [--s3 http://127.0.0.1:9000]

One stack is made by `maloko up`; the others are copies of what it left in the store, each with a name of its own, as
if a run had made it. Then the stacks are listed: all of them, and the hundred whose names begin alike. PostgreSQL,
moto and Azurite are started here; where it is the server that takes the time, the processor's seconds tell. `--s3`
names another server of that protocol, which has a bucket `states` and lets the keys `test` in. Azurite needs `npm ci
--prefix engine-stores/tests/servers` and `pip install azure-storage-blob`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

SERVERS = Path(__file__).resolve().parent.parent / "engine-stores" / "tests"
PROJECT, FIRST = "bench", "first"
PROGRAM = """
import os
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult(id_="it", outs=props)


class Item(Resource):
    def __init__(self, name):
        super().__init__(Provider(), name, {"value": 1})


for number in range(int(os.environ["BENCH_RESOURCES"])):
    Item(f"i{number}")
"""
# The account that every Azurite has, with its published key.
AZURITE = (
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
)
VARIABLES = {
    "PULUMI_CONFIG_PASSPHRASE": "bench",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AZURE_STORAGE_ACCOUNT": AZURITE[0],
    "AZURE_STORAGE_KEY": AZURITE[1],
}


class Place(NamedTuple):
    """A backend, and what copies the first stack in it to these names."""

    address: str
    copy: Callable[[Iterable[str]], None]


class Ran(NamedTuple):
    """A command that has ended: seconds, those of a processor, MiB at most, and what it printed."""

    seconds: float
    cpu: float
    peak: float
    printed: str


def maloko(folder: Path, *words: str) -> Ran:
    """Runs a command, which has to end well."""
    with tempfile.TemporaryFile("w+") as printed:
        began = time.monotonic()
        command = subprocess.Popen([sys.executable, "-m", "maloko", *words], cwd=folder, stdout=printed)
        _, status, used = os.wait4(command.pid, 0)
        seconds = time.monotonic() - began
        command.returncode = os.waitstatus_to_exitcode(status)
        assert command.returncode == 0, words
        printed.seek(0)
        return Ran(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, printed.read())


def started(*command: str) -> tuple[subprocess.Popen[str], str]:
    """A server that serves until its input is closed, and the line that it says first."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    line = server.stdout.readline().strip()
    assert line, f"{command[-1]} does not start"
    return server, line


def directory(folder: Path, _asked: argparse.Namespace) -> tuple[None, Place]:
    """Files, which keep their times: the summary of a checkpoint names its time."""
    states = folder / "states"
    states.mkdir()

    def copy(names: Iterable[str]) -> None:
        found = (str(file) for file in states.rglob("*") if file.is_file() and "history" not in file.parts)
        files = [file for file in found if f"/{FIRST}" in file]
        for name in names:
            for file in files:
                copied = Path(file.replace(f"/{FIRST}", f"/{name}"))
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, copied)

    return None, Place(f"file://{states}", copy)


def postgresql(_folder: Path, _asked: argparse.Namespace) -> tuple[subprocess.Popen[str], Place]:
    """Rows."""
    server, address = started(str(SERVERS / "postgres-server"))

    def copy(names: Iterable[str]) -> None:
        rows = ", ".join(f"('{name}')" for name in names)
        script = f"""
            SET search_path TO maloko, public;
            INSERT INTO stacks (project, name, made_by, current, seal, tags)
                SELECT project, copies.name, made_by, current, seal, tags
                FROM stacks, (VALUES {rows}) AS copies (name) WHERE stacks.name = '{FIRST}';
            INSERT INTO checkpoints (stack, number, content, summary)
                SELECT copies.id, number, content, summary FROM checkpoints
                JOIN stacks ON checkpoints.stack = stacks.id AND stacks.name = '{FIRST}',
                stacks AS copies WHERE copies.name <> '{FIRST}';
            INSERT INTO leases (stack) SELECT id FROM stacks WHERE name <> '{FIRST}';
            ANALYZE;
        """
        psql = ["psql", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null", address]
        subprocess.run(psql, input=script, text=True, check=True)

    return server, Place(address, copy)


def object_store(
    put: Callable[[str, bytes], str], listed: Callable[[], Iterable[tuple[str, bytes]]]
) -> Callable[[Iterable[str]], None]:
    """Copies objects. `put` tells the new object's version: a summary's name holds that of its checkpoint."""

    def copy(names: Iterable[str]) -> None:
        found = {key: content for key, content in listed() if f"/{FIRST}" in key and "/history/" not in key}
        [checkpoint] = [key for key in found if key.endswith(f"/stacks/{PROJECT}/{FIRST}.json")]
        [summary] = [key for key in found if f"/{FIRST}=" in key]
        owner, _, text = summary.split("=")
        others = {key: found[key] for key in found.keys() - {checkpoint, summary}}

        def copy_one(name: str) -> None:
            def named(key: str) -> str:
                return key.replace(f"/{FIRST}", f"/{name}")

            version = "".join(filter(str.isalnum, put(named(checkpoint), found[checkpoint])))
            put(f"{named(owner)}={version}={text}", b"")
            for key, content in others.items():
                put(named(key), content)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(copy_one, names))

    return copy


def s3(_folder: Path, asked: argparse.Namespace) -> tuple[subprocess.Popen[str] | None, Place]:
    """Objects in moto, or in the server that is named."""
    import boto3

    server, endpoint = None, asked.s3
    if endpoint is None:
        server, port = started(sys.executable, str(SERVERS / "servers" / "moto_server.py"))
        endpoint = f"http://127.0.0.1:{port}"
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=endpoint, **keys)

    def put(key: str, content: bytes) -> str:
        return str(client.put_object(Bucket="states", Key=key, Body=content)["ETag"])

    def listed() -> Iterable[tuple[str, bytes]]:
        for found in client.list_objects_v2(Bucket="states")["Contents"]:
            yield found["Key"], client.get_object(Bucket="states", Key=found["Key"])["Body"].read()

    address = f"s3://states/fleet?region=us-east-1&endpoint={endpoint}"
    return server, Place(address, object_store(put, listed))


def azure(_folder: Path, _asked: argparse.Namespace) -> tuple[subprocess.Popen[str], Place]:
    """Objects in Azurite."""
    from azure.storage.blob import ContainerClient

    server, port = started("node", str(SERVERS / "servers" / "azurite_server.mjs"))
    account, key = AZURITE
    container = ContainerClient(f"http://127.0.0.1:{port}/{account}", "states", credential=key)

    def put(name: str, content: bytes) -> str:
        return str(container.get_blob_client(name).upload_blob(content, overwrite=True)["etag"])

    def listed() -> Iterable[tuple[str, bytes]]:
        for name in container.list_blob_names():
            yield name, container.download_blob(name).readall()

    address = f"azblob://states/fleet?localemu=true&protocol=http&domain=127.0.0.1:{port}"
    return server, Place(address, object_store(put, listed))


KINDS = {each.__name__: each for each in (directory, postgresql, s3, azure)}


def measured(folder: Path, place: Place, asked: argparse.Namespace) -> list[tuple[str, float, float, float]]:
    """What is listed, seconds, those of a processor, and MiB."""
    (folder / "Pulumi.yaml").write_text(f"name: {PROJECT}\nruntime: python\nbackend: {{url: '{place.address}'}}\n")
    (folder / "__main__.py").write_text(PROGRAM)
    maloko(folder, "stack", "init", FIRST)
    maloko(folder, "up", "--stack", FIRST, "--yes", "--skip-preview")
    one = maloko(folder, "stack", "ls", "--json")
    place.copy([f"s{number:05}" for number in range(1, asked.stacks)])
    found = [("one stack", one.seconds, one.cpu, one.peak)]
    for what, words, count in (("all", (), asked.stacks), ("100, by prefix", ("--prefix", "s001"), 100)):
        rounds = [maloko(folder, "stack", "ls", "--json", *words) for _ in range(asked.rounds)]
        stacks = json.loads(rounds[0].printed)
        assert len(stacks) == count, f"{len(stacks)} stacks are listed"
        assert all(stack["resourceCount"] == json.loads(one.printed)[0]["resourceCount"] for stack in stacks)
        seconds, cpu = (statistics.median(column) for column in zip(*(ran[:2] for ran in rounds), strict=True))
        found.append((what, seconds, cpu, max(ran.peak for ran in rounds)))
    return found


def main() -> None:
    """Prints a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("stacks", 10_000), ("resources", 20), ("rounds", 3)):
        options.add_argument(f"--{name}", type=int, default=value)
    options.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options.add_argument("--s3", metavar="ADDRESS", help="a server that is there; else moto is started")
    asked = options.parse_args()
    os.environ |= VARIABLES | {"BENCH_RESOURCES": str(asked.resources)}
    print(
        f"{asked.stacks} stacks of {asked.resources} resources\n| | listed | seconds | of a processor | MiB at most |"
    )
    print("| --- | --- | ---: | ---: | ---: |")
    for kind in asked.kinds:
        with tempfile.TemporaryDirectory(prefix="maloko-bench-") as name:
            folder = Path(name)
            os.environ["PULUMI_HOME"] = str(folder / "home")
            server, place = KINDS[kind](folder, asked)
            try:
                for what, seconds, cpu, peak in measured(folder, place, asked):
                    print(f"| {kind} | {what} | {seconds:.2f} | {cpu:.2f} | {peak:.0f} |", flush=True)
            finally:
                if server is not None and server.stdin is not None:
                    server.stdin.close()
                    server.wait()


if __name__ == "__main__":
    main()
