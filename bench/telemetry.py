"""Measures what OpenTelemetry costs a run: nobody asks for it, or traces and metrics go to a collector.

    python bench/telemetry.py [--size 1000] [--repeat 15] [--other PATH]

Each run is an `up` on a new stack; the kinds of runs take turns, and the median of their CPU seconds counts. The
collector is a thread of this script, whose time is not counted. `--other` names the command of another build, which
joins in without being asked for telemetry: one from before a change, for what that costs those who do not use it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from run import Bench, Cost, measure


class Collector(BaseHTTPRequestHandler):
    """Reads what it is sent."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def up(size: int, variables: dict[str, str], maloko: str | None) -> Cost:
    with tempfile.TemporaryDirectory(prefix="maloko-bench-") as folder:
        bench = Bench("python", Path(folder), "python", size, variables=variables)
        bench.maloko = maloko or bench.maloko
        measure([bench.maloko, "stack", "init", "dev"], bench.folder, bench.env)
        return bench.operation("up")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--other")
    asked = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}"}
    kinds: dict[str, tuple[dict[str, str], str | None]] = {
        "nobody asks": ({}, None),
        "traces and metrics": (endpoint, None),
    }
    if asked.other:
        kinds["the other build"] = ({}, asked.other)
    costs: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(asked.repeat):
        for kind, (variables, maloko) in kinds.items():
            costs[kind].append(up(asked.size, variables, maloko).cpu)
    for kind, seconds in costs.items():
        print(f"{kind}: {statistics.median(seconds):.3f} s CPU, {min(seconds):.3f} to {max(seconds):.3f}")


if __name__ == "__main__":
    main()
