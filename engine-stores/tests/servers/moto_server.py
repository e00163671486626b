"""A server of Amazon's S3 protocol for tests: moto, behind what a network and a proxy can do to requests.

Prints the port it listens on, and serves until its standard input is closed, so that it never outlives its test.
"""

from __future__ import annotations

import argparse
import io
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING

import boto3
from moto.server import create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

CONDITIONS = ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH")
# After so many other writes a network delivers a request once more.
LATE = 3
# So often the answer to one request gets lost; then whoever goes on asking is answered.
LOST = 3


class Proxy:
    """Stands before the server. moto looks and writes in two steps, so one request is let through at a time."""

    def __init__(self, options: argparse.Namespace) -> None:
        # The service is known: finding it by each request's host takes a third of moto's time.
        self.server = create_backend_app("s3")
        self.options = options
        self.lock = threading.Lock()
        self.puts = 0
        self.lost: Counter[tuple[str, bytes]] = Counter()
        self.again: list[tuple[int, WSGIEnvironment, bytes]] = []

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length) if length else b""
        if self.options.strip:
            for name in CONDITIONS:
                environ.pop(name, None)
        counted = environ["REQUEST_METHOD"] == "PUT" and body
        with self.lock:
            self.puts += bool(counted)
            number = self.puts
            if counted and self.due(self.options.late, number):
                self.again.append((number + LATE, dict(environ), body))
            while self.again and self.again[0][0] <= number:
                _, late, its_body = self.again.pop(0)
                late["wsgi.input"] = io.BytesIO(its_body)
                list(self.server(late, lambda *_: None))
            environ["wsgi.input"] = io.BytesIO(body)
            request = (environ["PATH_INFO"], body)
            if counted and self.due(self.options.lose, number) and self.lost[request] < LOST:
                self.lost[request] += 1
                # Carried out, but the answer gets lost on its way: the client sees an error and asks again.
                list(self.server(environ, lambda *_: None))
                start_response("503 Slow Down", [("Content-Length", "0")])
                return [b""]
            return list(self.server(environ, start_response))

    @staticmethod
    def due(every: int, number: int) -> bool:
        return every > 0 and number % every == 0


class Quiet(WSGIRequestHandler):
    """Keeps connections open, and no log."""

    protocol_version = "HTTP/1.1"

    def log(self, *_: object) -> None:
        return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strip", action="store_true", help="drop the headers of conditional writes")
    parser.add_argument("--lose", type=int, default=0, metavar="N", help="lose the answer of every Nth write")
    parser.add_argument("--late", type=int, default=0, metavar="N", help="deliver every Nth write a second time, late")
    parser.add_argument("--tls", nargs=2, metavar=("CERTIFICATE", "KEY"), help="serve by TLS, with these PEM files")
    options = parser.parse_args()
    proxy, tls = Proxy(options), options.tls and tuple(options.tls)
    server = make_server("127.0.0.1", 0, proxy, threaded=True, request_handler=Quiet, ssl_context=tls)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
    endpoint = f"{'https' if options.tls else 'http'}://localhost:{server.port}"
    verify = False if options.tls else None  # The tests' clients are those who look at the certificate.
    boto3.client("s3", endpoint_url=endpoint, verify=verify, **keys).create_bucket(Bucket="states")
    print(server.port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
