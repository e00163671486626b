"""What both local services share: routing, tokens, request counts and an adjustable delay."""

from __future__ import annotations

import argparse
import json
import re
import threading
import time
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any
Answer = tuple[int, Json]
Route = tuple[str, re.Pattern[str], Callable[..., Answer]]


class Refused(Exception):  # noqa: N818 - an answer, not an error
    """An answer other than success: an HTTP status and a JSON body."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"{status} {body}")
        self.status = status
        self.body = body


class Service:
    """An in-memory HTTP service on 127.0.0.1; its state may be read and changed by the process that runs it.

    `token` is what a request must carry; `delay` is a pause in seconds before every answer; `requests` counts what
    came in, by "METHOD route". While `answers` is cleared, what is asked for is done and not answered; `held` counts
    those requests.
    """

    def __init__(self, token: str) -> None:
        self.token = token
        self.delay = 0.0
        self.requests: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.url = ""
        self.answers = threading.Event()
        self.answers.set()
        self.held = threading.Semaphore(0)
        self.connections = 0
        self.fewer_connections = threading.Condition()

    def routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        """The service's (method, path template, handler) triples; a template's {name} becomes an argument."""
        raise NotImplementedError

    def unauthorized(self) -> Json:
        """The body of a 401 answer."""
        return {"message": "missing or wrong token"}

    def table(self) -> list[Route]:
        return [
            (method, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template) + "$"), handler)
            for method, template, handler in self.routes()
        ]

    def answer(self, table: list[Route], handler: Handler, method: str) -> Answer:
        """Finds and runs the handler for a request, counted and delayed."""
        path = urllib.parse.urlsplit(handler.path).path
        length = int(handler.headers.get("Content-Length") or 0)
        text = handler.rfile.read(length)
        time.sleep(self.delay)
        for wanted, pattern, action in table:
            found = pattern.match(path)
            if wanted != method or found is None:
                continue
            with self.lock:
                self.requests[f"{method} {action.__name__}"] += 1
                if handler.headers.get("Authorization") not in (f"Bearer {self.token}", f"token {self.token}"):
                    raise Refused(401, self.unauthorized())
                arguments: dict[str, Any] = {k: urllib.parse.unquote(v) for k, v in found.groupdict().items()}
                if method in ("POST", "PUT", "PATCH"):
                    arguments["body"] = json.loads(text or b"{}")
                if action.__name__.startswith("create"):
                    arguments["headers"] = handler.headers
                return action(**arguments)
        raise Refused(404, {"message": "Not Found"})

    @contextmanager
    def running(self, port: int = 0) -> Iterator[Service]:
        """Serves until the block ends; `url` says where."""
        service, table = self, self.table()

        class Bound(Handler):
            def respond(self) -> None:
                try:
                    status, body = service.answer(table, self, self.command)
                except Refused as refused:
                    status, body = refused.status, refused.body
                if not service.answers.is_set():
                    service.held.release()
                    service.answers.wait()
                self.send(status, body)

        class Counted(ThreadingHTTPServer):
            def process_request(self, *connection: Any) -> None:
                with service.fewer_connections:
                    service.connections += 1
                super().process_request(*connection)

            def process_request_thread(self, *connection: Any) -> None:
                try:
                    super().process_request_thread(*connection)
                finally:
                    with service.fewer_connections:
                        service.connections -= 1
                        service.fewer_connections.notify_all()

        server = Counted(("127.0.0.1", port), Bound)
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()

    def settle(self) -> None:
        """Waits until whatever was asked by clients that are gone has been done."""
        # Connections are taken in their order: once this one is served, all that were opened before it are counted.
        with urllib.request.urlopen(urllib.request.Request(self.url, method="OPTIONS")):
            pass
        with self.fewer_connections:
            if not self.fewer_connections.wait_for(lambda: self.connections == 0, timeout=60):
                raise TimeoutError(f"{self.connections} connections are open a minute after their client ended")


class Handler(BaseHTTPRequestHandler):
    """Plain HTTP/1.1 with JSON bodies and keep-alive."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def respond(self) -> None:
        raise NotImplementedError

    def send(self, status: int, body: Json) -> None:
        text = b"" if body is None else json.dumps(body).encode()
        try:
            self.send_response(status)
            if body is not None:
                self.send_header("Content-Type", "application/json; charset=utf-8")
            if status != 204:
                self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            self.wfile.flush()
        except ConnectionError:  # the client went away, as the kill tests make it do
            self.close_connection = True

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is BaseHTTPRequestHandler's
        pass

    def do_OPTIONS(self) -> None:
        self.send(204, None)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = lambda self: self.respond()  # noqa: N815 - as the base class asks


def main(make: Callable[[str], Service], about: str) -> None:
    """Runs a service in the foreground until it is interrupted."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--token", default="demo-token", help="what requests must carry")
    options = parser.parse_args()
    with make(options.token).running(options.port) as service:
        print(service.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(dict(service.requests))
