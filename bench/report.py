"""What the tables of docs/internals/performance.md say of what was measured: no process is run here."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

NULL, MOCKS = "null engine", "mocks"
MARK = "~"
SPREAD = 0.1
"""From which part of their median on the CPU seconds of a row's runs are too far apart to be relied on."""
FEW = 100
"""Below so many resources the start of the process outweighs them, and what each costs says nothing."""
COLUMNS = "CPU s | µs over null | ratio | wall s | ratio | MiB | ratio"
EXPLANATION = (
    f"Ratios are to the null engine in the same table. “µs over null” is CPU time for each resource above the null "
    f"engine's, start-up included. `{MARK}` marks what spreads over more than {SPREAD:.0%} of its median, from the "
    "least to the greatest: the CPU seconds of a row, or the machine's speed. That speed is the CPU time of a fixed "
    "loop of each language, which each round times."
)


@dataclass(frozen=True)
class Cost:
    """What one process took: CPU and wall in seconds, peak memory in MiB."""

    cpu: float
    wall: float
    memory: float


Runs = Sequence[Cost]
"""The runs of one row; none where the SDK does not get through the program."""


def median(costs: Runs) -> Cost:
    return Cost(
        statistics.median(cost.cpu for cost in costs),
        statistics.median(cost.wall for cost in costs),
        statistics.median(cost.memory for cost in costs),
    )


def spread(seconds: Sequence[float]) -> float:
    """How far apart the runs are, as a part of their median."""
    return (max(seconds) - min(seconds)) / statistics.median(seconds)


def marked(name: str, costs: Runs) -> str:
    return f"{name} {MARK}" if spread([cost.cpu for cost in costs]) > SPREAD else name


def turns(names: Sequence[str], number: int) -> list[str]:
    """The order in a round: each has each place in turn, so that none is always the one after a long rest."""
    first = number % len(names)
    return [*names[first:], *names[:first]]


def speed(loops: dict[str, list[float]]) -> str:
    """The machine's speed, for the head of a table; `loops` are the seconds of the fixed loop by language."""
    parts = []
    for language, seconds in loops.items():
        shown = f"{language} {statistics.median(seconds):.3f} s ({min(seconds):.3f} to {max(seconds):.3f})"
        parts.append(f"{shown} {MARK}" if spread(seconds) > SPREAD else shown)
    return f"Machine's speed, the fixed loop: {'; '.join(parts)}."


def header(first: str) -> list[str]:
    return [f"| {first} | run | {COLUMNS} |", "| --- | --- |" + " ---: |" * (COLUMNS.count("|") + 1)]


def rows(what: str, resources: int, runs: dict[str, Runs]) -> list[str]:
    """The rows of one program and number of resources, by what was run."""
    null = median(runs[NULL]) if runs[NULL] else None
    out = []
    for name, costs in runs.items():
        if costs:
            out.append(
                f"| {what} | {marked(name, costs)} | {' | '.join(_cells(name, median(costs), null, resources))} |"
            )
        else:
            out.append(f"| {what} | {name} | RecursionError |" + " |" * COLUMNS.count("|"))
    return out


def _cells(name: str, cost: Cost, null: Cost | None, resources: int) -> list[str]:
    if null is None or name == NULL:
        return [f"{cost.cpu:.2f}", "", "", f"{cost.wall:.2f}", "", f"{cost.memory:.0f}", ""]
    over = f"{(cost.cpu - null.cpu) / resources * 1e6:.0f}" if resources >= FEW else ""
    return [
        f"{cost.cpu:.2f}",
        over,
        f"{cost.cpu / null.cpu:.2f}",
        f"{cost.wall:.2f}",
        f"{cost.wall / null.wall:.2f}",
        f"{cost.memory:.0f}",
        f"{cost.memory / null.memory:.2f}",
    ]


def growth(sizes: dict[int, dict[str, Runs]]) -> str:
    """How the CPU time of a resource at the greatest size compares with that at the middle one, start-up taken off."""
    start, small, large = sorted(sizes)
    parts = []
    for name in sizes[start]:
        if name == MOCKS:
            continue
        fixed, few, many = (median(sizes[size][name]).cpu for size in (start, small, large))
        each_few, each_many = (few - fixed) / (small - start), (many - fixed) / (large - start)
        parts.append(f"{name} {each_few * 1e6:.0f} → {each_many * 1e6:.0f} µs ({each_many / each_few:.2f})")
    return f"CPU per resource, {small:,} → {large:,}, start-up taken off: {'; '.join(parts)}."


def aims(limits: dict[int, float], memory: float, sizes: dict[int, dict[str, Runs]]) -> str:
    """What is aimed at for `up`, and what was measured: parts of the null engine's wall and CPU seconds by size.

    `memory` is the limit of the peak at the greatest size.
    """
    parts = []
    for size, limit in limits.items():
        if size in sizes:
            null, ours = median(sizes[size][NULL]), median(sizes[size]["up"])
            wall, cpu = (_judged(part, limit) for part in (ours.wall / null.wall, ours.cpu / null.cpu))
            part = f"{size:,} resources at most {limit:g}: wall {wall}; CPU {cpu}"
            if size == max(limits):
                part += f"; memory (at most {memory:g}) {_judged(ours.memory / null.memory, memory)}"
            parts.append(part)
    return f"Aims for `up` against the null engine: {'. '.join(parts)}." if parts else ""


def _judged(measured: float, limit: float) -> str:
    shown = round(measured, 2)
    return f"{shown:.2f}, {'met' if shown <= limit else '**not met**'}"
