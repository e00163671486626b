"""What pages show: the data in their files, and what a live one sends."""

import contextlib
import http.client
import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cli import MALOKO, MAX_SECONDS, Project

DATA = re.compile('<script type="application/json" id="maloko-data">(.*?)</script>', re.DOTALL)
ADDRESS = re.compile(r"Follow the run at (http://\S+)")


def data_of(page: str) -> dict[str, Any]:
    """What a page shows."""
    [text] = DATA.findall(page)
    data: dict[str, Any] = json.loads(text)
    return data


class Live:
    """A page that follows a run."""

    def __init__(self, address: str) -> None:
        self.place = urlsplit(address)
        self.token = self.place.query.removeprefix("token=")

    def ask(self, path: str, method: str = "GET", token: str | None = None, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.place.netloc, timeout=MAX_SECONDS)
        connection.request(method, f"{path}?token={token or self.token}", headers=headers)
        return connection.getresponse()

    def events(self) -> Iterator[tuple[str, str]]:
        """The name and the data of each event, until the run ends."""
        answer = self.ask("/events")
        assert answer.status == 200
        name = ""
        for line in answer:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, value


@contextlib.contextmanager
def followed(project: Project, *arguments: str, **environment: str) -> Iterator[tuple[Live, Path, Path]]:
    """Begins a command with a live page; gives that, and the files of its stdout and stderr. Waits for its end."""
    out, err = project.directory / "live-stdout", project.directory / "live-stderr"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        running = subprocess.Popen(
            [*MALOKO, *arguments, "--page-live"],
            cwd=project.directory,
            env=project.variables(arguments, **environment),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )
    try:
        end = time.monotonic() + MAX_SECONDS
        while not (address := ADDRESS.search(err.read_text())):
            assert running.poll() is None, out.read_text() + err.read_text()
            assert time.monotonic() < end, "no address was told"
            time.sleep(0.02)
        yield Live(address[1]), out, err
        running.wait(MAX_SECONDS)
    finally:
        running.kill()
        running.wait()
