"""What one call of a provider's method costs above the method itself, in microseconds of CPU.

    python bench/border.py                       both languages
    python bench/border.py --languages python --size 2000 --repeat 5

The same run is measured with a method and without it, by turns: `check` in an `up` that creates, `diff` in an `up`
that changes nothing. Where the method is missing the engine goes on by itself, so the difference is one way across the
border and back: arguments and answer converted, the hop to a thread or to Node's main thread, and the method, which
returns at once.

`create` cannot be left out. Python's half of it is timed by calls of the run's host (`Host.call`) beside calls of the
method.
"""

from __future__ import annotations

import argparse
import contextvars
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from run import LANGUAGES, Bench, measure


def cpu_of(language: str, size: int, methods: str, creates: bool) -> float:
    """CPU seconds of one `up`, of new resources or of unchanged ones."""
    with tempfile.TemporaryDirectory(prefix="maloko-border-") as folder:
        bench = Bench(language, Path(folder), f"{language}-border", size, variables={"BENCH_METHODS": methods})
        measure([bench.maloko, "stack", "init", "dev"], bench.folder, bench.env)
        first = bench.operation("up")
        return first.cpu if creates else bench.operation("up").cpu


def difference(language: str, size: int, method: str, repeat: int) -> tuple[float, float]:
    """What the method adds to a run, in microseconds of CPU for each call: of the least of each kind, and the median.

    The collector and the compiler of a runtime add to a run, and by chance more to one than to another. They take
    nothing away, so the runs that had least of them are compared.
    """
    creates = method == "check"
    pairs = [tuple(cpu_of(language, size, methods, creates) for methods in ("", method)) for _ in range(repeat)]
    without, with_it = (min(kind) for kind in zip(*pairs, strict=True))
    median = statistics.median(after - before for before, after in pairs)
    return (with_it - without) / size * 1e6, median / size * 1e6


def direct_create(calls: int = 20_000) -> float:
    """What Python's half of a `create` takes above the method, in microseconds."""
    from pulumi.dynamic import CreateResult, ResourceProvider

    from maloko._run.host import Host

    class Provider(ResourceProvider):
        def create(self, props: dict[str, Any]) -> CreateResult:
            return CreateResult("id", props)

    host, provider = Host(), Provider()
    number, context = host.registry.number(provider), contextvars.copy_context()
    complete: Any = None  # a method that is not async answers at once
    rounds = []
    for _ in range(5):
        begin = time.process_time()
        for call in range(calls):
            # The second number says what the provider is configured with: one without `configure` is not asked for it.
            host.call(
                (number, number), call, "urn:pulumi:dev::p::t::n", "create", ({"n": 1.0},), context, complete, "key"
            )
        middle = time.process_time()
        for _call in range(calls):
            provider.create({"n": 1.0})
        rounds.append((2 * middle - begin - time.process_time()) / calls * 1e6)
    host.close()
    return statistics.median(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--size", type=int, default=5000)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    print(f"| across the border, {options.size:,} calls, {os.cpu_count()} cores | µs each | median of the rounds |")
    print("| --- | ---: | ---: |")
    for language in options.languages.split(","):
        for method in ("check", "diff"):
            least, median = difference(language, options.size, method, options.repeat)
            print(f"| {LANGUAGES[language]}, `{method}` | {least:.0f} | {median:.0f} |", flush=True)
        if language == "python":
            print(f"| Python, its half of `create` | {direct_create():.0f} | |", flush=True)


if __name__ == "__main__":
    main()
