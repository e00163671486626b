#!/usr/bin/env python3
"""What a key service costs: `up` with secrets under a service that is some milliseconds away, and under a passphrase.

    keys.py MALOKO [--secrets 50] [--away 0.05] [--rounds 5]

The aim is at most one request more than under a passphrase, which takes no request and derives a key. Both ways take
turns, and the median counts. The service is Vault's transit engine, by `python-tests/support/key_servers.py`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python-tests" / "support"))
from key_servers import KeyServers, key_servers

PROGRAM = """import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Maker(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)

class Made(Resource):
    secret: pulumi.Output[str]
    def __init__(self, name, secret):
        super().__init__(Maker(), name, {"secret": secret})

config = pulumi.Config()
for number in range(COUNT):
    pulumi.export(f"told-{number}", Made(f"made-{number}", config.require_secret(f"word-{number}")).secret)
"""


def prepared(maloko: str, folder: Path, servers: KeyServers, secrets: int, provider: str) -> dict[str, str]:
    """A project whose stack has secrets; its environment."""
    variables = {**os.environ, **servers.environment, "PULUMI_CONFIG_PASSPHRASE": "of the bench"}
    variables["PULUMI_BACKEND_URL"] = f"file://{folder}/state"
    (folder / "state").mkdir()
    (folder / "Pulumi.yaml").write_text("name: bench\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM.replace("COUNT", str(secrets)))

    def run(*arguments: str) -> None:
        subprocess.run([maloko, *arguments], cwd=folder, env=variables, check=True, capture_output=True)

    run("stack", "init", "dev", "--secrets-provider", provider)
    run("config", "set-all", *(part for number in range(secrets) for part in ("--secret", f"word-{number}=s{number}")))
    return variables


def up(maloko: str, servers: KeyServers, secrets: int, provider: str) -> tuple[float, int]:
    """Wall seconds of a first `up`, and its requests to the service."""
    with tempfile.TemporaryDirectory(prefix="bench-keys-") as name:
        folder = Path(name)
        variables = prepared(maloko, folder, servers, secrets, provider)
        servers.requests.clear()
        begun = time.monotonic()
        command = [maloko, "up", "--yes", "--skip-preview"]
        subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True)
        return time.monotonic() - begun, len(servers.requests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maloko", help="the command line to measure")
    parser.add_argument("--secrets", type=int, default=50)
    parser.add_argument("--away", type=float, default=0.05, help="seconds until the service answers")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    providers = ["passphrase", "hashivault://one"]
    taken: dict[str, list[float]] = {provider: [] for provider in providers}
    requests = dict.fromkeys(providers, 0)
    with key_servers() as servers:
        servers.away = given.away
        for _ in range(given.rounds):
            for provider in providers:
                seconds, requests[provider] = up(given.maloko, servers, given.secrets, provider)
                taken[provider].append(seconds)
    print(f"| `up` with {given.secrets} secrets | seconds | requests |")
    print("| --- | ---: | ---: |")
    for provider in providers:
        print(f"| {provider} | {statistics.median(taken[provider]):.2f} | {requests[provider]} |")


if __name__ == "__main__":
    main()
