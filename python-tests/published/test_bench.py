"""What the bench says of its measurements (docs/internals/performance.md)."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import report

    return report


# In Python alone: the bench of both languages is one program, in Python
def test_the_tables_of_the_bench_say_what_maloko_costs_above_the_null_engine(report: Any) -> None:
    def runs(*cpu: float) -> list[Any]:
        return [report.Cost(seconds, 2 * seconds, 100 * seconds) for seconds in cpu]

    measured = {report.NULL: runs(0.98, 1.0, 1.02), report.MOCKS: runs(2.0, 2.0, 2.4), "up": runs(1.5, 1.5, 1.5)}
    assert report.rows("1,000", 1_000, measured) == [
        "| 1,000 | null engine | 1.00 |  |  | 2.00 |  | 100 |  |",
        # Its runs are 20 % apart.
        "| 1,000 | mocks ~ | 2.00 | 1000 | 2.00 | 4.00 | 2.00 | 200 | 2.00 |",
        "| 1,000 | up | 1.50 | 500 | 1.50 | 3.00 | 1.50 | 150 | 1.50 |",
    ]
    # The start of a process is most of what so few resources take.
    assert report.rows("10", 10, measured)[2] == "| 10 | up | 1.50 |  | 1.50 | 3.00 | 1.50 | 150 | 1.50 |"
    # A program that the SDK alone does not get through.
    assert report.rows("chain", 1_000, {report.NULL: [], "maloko": runs(1.5)}) == [
        "| chain | null engine | RecursionError | | | | | | |",
        "| chain | maloko | 1.50 |  |  | 3.00 |  | 150 |  |",
    ]
    assert report.header("resources")[1].count("|") == report.rows("10", 10, measured)[0].count("|")
    assert report.aims({1_000: 1.5, 10_000: 1.2}, 1.3, {1_000: measured}) == (
        "Aims for `up` against the null engine: 1,000 resources at most 1.5: wall 1.50, met; CPU 1.50, met."
    )
    assert report.aims({1_000: 1.4}, 1.3, {1_000: measured}) == (
        "Aims for `up` against the null engine: 1,000 resources at most 1.4: wall 1.50, **not met**; "
        "CPU 1.50, **not met**; memory (at most 1.3) 1.50, **not met**."
    )
    assert report.speed({"Python": [0.5, 0.5, 0.6], "Node": [0.4]}) == (
        "Machine's speed, the fixed loop: Python 0.500 s (0.500 to 0.600) ~; Node 0.400 s (0.400 to 0.400)."
    )


# In Python alone: the bench of both languages is one program, in Python
def test_each_engine_of_the_bench_has_each_place_in_turn(report: Any) -> None:
    orders = [report.turns("abc", number) for number in range(4)]
    assert orders == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]]


# In Python alone: the bench of both languages is one program, in Python
def test_the_bench_tells_the_growth_of_a_program_without_its_start(report: Any) -> None:
    def of(cpu: float) -> dict[str, list[Any]]:
        return {name: [report.Cost(cpu, 1, 1)] for name in (report.NULL, report.MOCKS, "up")}

    # A start of 0.1 s, and 100 µs for each resource.
    grown = report.growth({10: of(0.101), 1_000: of(0.2), 10_000: of(1.1)})
    assert grown == (
        "CPU per resource, 1,000 → 10,000, start-up taken off: null engine 100 → 100 µs (1.00); up 100 → 100 µs (1.00)."
    )


PROGRAM = """
import pulumi
from pulumi.dynamic import Resource, ResourceProvider

class Item(Resource):
    n: pulumi.Output[int]

outer = pulumi.ComponentResource("bench:index:Outer", "outer")
inner = pulumi.ComponentResource("bench:index:Inner", "inner", None, pulumi.ResourceOptions(parent=outer))
item = Item(ResourceProvider(), "item", {"n": pulumi.Output.secret(1)}, pulumi.ResourceOptions(parent=inner))
pulumi.Output.all(item.urn, item.id, item.n).apply(lambda known: print(*known))
"""


def test_the_null_engine_of_the_bench_answers_as_an_engine_does(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(PROGRAM)
    script = ROOT / "bench" / "baseline.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), "null", "100000,50,1000"],
        text=True,
        capture_output=True,
        check=False,
    )
    kinds = "bench:index:Outer$bench:index:Inner$pulumi-python:dynamic:Resource"
    assert (done.stdout, done.stderr) == (f"urn:pulumi:dev::bench::{kinds}::item id-item 1\n", "")
