"""Loads a service that deploys: many tenants at once, each with a stack of their own, in one process.

    service.py [--tenants 200] [--size 10] [--lang python|nodejs]

Starts examples/*/tenants, and sends all tenants' requests at the same moment: to deploy, to deploy again (nothing
changes), to remove. Prints wall time, the latencies of requests, and the largest memory of the process so far. The
service works on 16 stacks at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def start(language: str, folder: Path) -> tuple[subprocess.Popen[str], int]:
    """The service in a process, and its port."""
    environment = {**os.environ, "STATE": str(folder / "state"), "MASTER_KEY": "a master key", "HOME": str(folder)}
    if language == "python":
        command = [ROOT / ".venv/bin/python", ROOT / "examples/python/tenants/service.py", "0"]
    else:
        source, built = ROOT / "examples/typescript", folder / "service"
        compiler = source / "node_modules/.bin/tsc"
        subprocess.run(
            [compiler, "-p", source / "tenants", "--noEmit", "false", "--outDir", built], check=True, cwd=source
        )
        (built / "package.json").write_text('{"type": "commonjs"}')
        (built / "node_modules").symlink_to(source / "node_modules")
        command = ["node", "--import", "maloko/register", "service.js", "0"]
        folder = built
    service = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    assert service.stdout is not None
    return service, int(service.stdout.readline().rsplit(":", 1)[1])


def memory(process: int) -> int:
    """The largest memory of a process so far, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def processor(process: int) -> float:
    """The processor seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def request(port: int, method: str, tenant: str, body: str) -> float:
    """Sends a request; gives the seconds until its answer was there. Raises `RuntimeError` for one that failed."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"{method} /tenants/{tenant} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write((head + body).encode())
    answer = (await reader.read()).decode()
    writer.close()
    if " 200 " not in answer.partition("\r\n")[0]:
        raise RuntimeError(answer)
    return time.perf_counter() - began


async def wave(port: int, method: str, tenants: int, body: str) -> list[float]:
    """The latencies of a request for each tenant, all sent at once; the last is that of all."""
    began = time.perf_counter()
    latencies = await asyncio.gather(*(request(port, method, f"t{number}", body) for number in range(tenants)))
    return [*sorted(latencies), time.perf_counter() - began]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenants", type=int, default=200)
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--lang", choices=["python", "nodejs"], action="append")
    options = parser.parse_args()
    body = json.dumps({"size": options.size})
    print(
        f"| {options.tenants} tenants of {options.size} resources | all, s | processor, s | median, s | 95 %, s | MB |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for language in options.lang or ["python", "nodejs"]:
        with tempfile.TemporaryDirectory(prefix="bench-service-") as name:
            service, port = start(language, Path(name))
            try:
                for title, method in (("deploy", "POST"), ("deploy again", "POST"), ("remove", "DELETE")):
                    used = processor(service.pid)
                    *latencies, whole = asyncio.run(wave(port, method, options.tenants, body))
                    late = latencies[int(len(latencies) * 0.95)]
                    used = processor(service.pid) - used
                    middle, most = statistics.median(latencies), memory(service.pid)
                    print(f"| {language}, {title} | {whole:.1f} | {used:.1f} | {middle:.1f} | {late:.1f} | {most} |")
            finally:
                service.send_signal(signal.SIGTERM)
                service.wait(60)


if __name__ == "__main__":
    main()
