"""The stores whose runs are killed: the folder of a round, a server of S3's protocol, and a PostgreSQL server.

The servers are started here and end with whoever asked for them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SERVERS = Path(__file__).parents[2] / "engine-stores" / "tests"
STORES = ("directory", "s3", "postgres")

Environment = Callable[[Path], dict[str, str]]
"""Gives the variables that name the store of a round, by the round's folder."""


@contextmanager
def store(kind: str) -> Iterator[Environment]:
    """A store of this kind, for as many rounds as there are; each has a place of its own in it.

    Raises RuntimeError when its server does not start.
    """
    if kind == "directory":
        yield lambda folder: {"MALOKO_BACKEND_URL": f"file://{folder / 'state'}"}
    elif kind == "s3":
        with served([sys.executable, str(SERVERS / "servers" / "moto_server.py")]) as port:
            keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
            server = f"region=us-east-1&endpoint=http://127.0.0.1:{port}"
            yield lambda folder: {"MALOKO_BACKEND_URL": f"s3://states/{folder.name}?{server}", **keys}
    else:
        with served([str(SERVERS / "postgres-server")]) as address:
            # Five seconds instead of thirty until a silent holder is replaced.
            yield lambda folder: {
                "MALOKO_BACKEND_URL": f"{address}&schema={folder.name.replace('-', '_')}&lease=5",
            }


@contextmanager
def served(command: list[str]) -> Iterator[str]:
    """A server that says in its first line where it is, and serves until its input ends."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        if not said:
            raise RuntimeError(f"the server does not start: {' '.join(command)}")
        yield said
        process.stdin.close()
