"""HTTP that is recorded once and played back, by the resource and the method that asked."""

import json
import threading
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pulumi
import pytest
from kit import Thing
from pulumi.dynamic import CreateResult, ResourceProvider
from vcr.errors import CannotOverwriteExistingCassetteException

from maloko import MalokoError
from maloko.testing import Kit

Props = dict[str, Any]
SECRETS = {"key": "hunter22"}


class Service:
    """A service of labels; makes its numbers up as it goes."""

    def __init__(self) -> None:
        self.asked = 0
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                service.asked += 1
                self.answer(bytes([0xFF, 0x00, 0xFE]))

            def do_POST(self) -> None:
                service.asked += 1
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                # What is sent is what the provider sends: only the file is without secrets.
                sent = (self.headers["x-key"], self.path.partition("=")[2], body.partition(" ")[2])
                as_it_is = sent == ("hunter22",) * 3 and self.headers["x-maloko-call"] is None
                self.answer(json.dumps({"number": service.asked, "as_it_is": as_it_is}).encode())

            def do_DELETE(self) -> None:
                service.asked += 1
                self.answer(b"")

            def answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.send_header("set-cookie", "session=hunter22")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.stop()


class LabelProvider(ResourceProvider):
    def create(self, props: Props) -> CreateResult:
        url, key, name = props["url"], props["key"], props["name"]
        request = urllib.request.Request(
            f"{url}/labels?key={key}", data=f"{name} {key}".encode(), headers={"x-key": key}, method="POST"
        )
        with urllib.request.urlopen(request) as response:
            answer = json.loads(response.read())
        return CreateResult(
            f"{name}-{answer['number']}", {**props, "number": answer["number"], "as_it_is": answer["as_it_is"]}
        )

    def delete(self, id_: str, props: Props) -> None:
        with urllib.request.urlopen(urllib.request.Request(f"{props['url']}/labels/{id_}", method="DELETE")):
            pass


def labels(url: str, names: list[str]) -> Callable[[], None]:
    def program() -> None:
        key = pulumi.Config().require_secret("key")
        for name in names:
            Thing(LabelProvider(), name, {"url": url, "key": key, "name": name})

    return program


def test_traffic_is_replayed_by_resource_and_method(maloko: Kit, tmp_path: Path, service: Service) -> None:
    file = tmp_path / "labels.yaml"
    names = ["a", "b", "c", "d"]
    s = maloko.stack(labels(service.url, names), secrets=SECRETS)
    with maloko.cassette(file, record="once"):
        s.up(settle=False)
        made = {name: s.outputs(name)["number"] for name in names}
        assert all(s.outputs(name)["as_it_is"] for name in names)
        s.destroy()
    assert service.asked == 8
    service.stop()
    written = file.read_text()
    assert "hunter22" not in written
    assert all(f"{name}/{method}" in written for name in names for method in ("create", "delete"))

    # The service is gone: whatever order the resources come in, each has its own answer.
    t = maloko.stack(labels(service.url, names[::-1]), secrets=SECRETS)
    with maloko.cassette(file):
        t.up(settle=False)
        assert {name: t.outputs(name)["number"] for name in names} == made
        t.destroy()
    assert service.asked == 8


def test_a_request_that_is_not_on_the_cassette_fails_and_says_how_to_record_it(maloko: Kit, tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("interactions: []\nversion: 1\n")
    s = maloko.stack(labels("http://127.0.0.1:1", ["a"]), secrets=SECRETS)
    with pytest.raises(CannotOverwriteExistingCassetteException) as caught, maloko.cassette(file):
        s.up()
    assert s.calls.create["a"].error_kind == "raised"
    told = str(caught.value)
    assert "POST" in told
    assert "http://127.0.0.1:1/labels" in told
    assert told.endswith(f"record the cassette {file} anew: pytest --maloko-record")
    assert "hunter22" not in told


def test_a_cassette_that_is_missing_or_damaged_says_what_to_do(maloko: Kit, tmp_path: Path) -> None:
    file = tmp_path / "none.yaml"

    def told(**options: Any) -> str:
        with pytest.raises(MalokoError) as caught, maloko.cassette(file, **options):
            pass
        return str(caught.value)

    assert told() == f"there is no cassette {file}; record it: pytest --maloko-record"
    assert not file.exists()
    for text in ("{", "[]", "nothing: of ours\n"):
        file.write_text(text)
        assert told().startswith(f"the cassette {file} is damaged (")
    assert told(record="often") == "record='often' is no record mode; those are none, once, new_episodes, all"
    assert maloko.parallel is None


def test_bytes_and_requests_of_the_program_itself_are_played_back(
    maloko: Kit, tmp_path: Path, service: Service
) -> None:
    def program() -> None:
        with urllib.request.urlopen(f"{service.url}/bytes") as response:
            pulumi.export("bytes", list(response.read()))

    for record in ("once", "none"):
        s = maloko.stack(program)
        with maloko.cassette(tmp_path / "bytes.yaml", record=record):
            s.up(settle=False)
        assert s.outputs() == {"bytes": [0xFF, 0x00, 0xFE]}
    assert service.asked == 1
