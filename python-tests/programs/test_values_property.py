"""Whatever a value is, and wherever the state is kept: it comes back as it was, or it is said that it does not (P9 of
docs/internals/reliability.md).

The values are drawn from a seed (`MALOKO_VALUES_SEED`), each as an input and as an output of a resource of its own.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli import Project
from kit import Thing
from night import by_day, rounds
from pulumi.dynamic import CheckResult, CreateResult, ResourceProvider
from stacks import Stack

SERVERS = Path(__file__).parents[2] / "engine-stores" / "tests"
SEED = int(os.environ.get("MALOKO_VALUES_SEED", "1"))
NUMBER = rounds(40, 120)

PROGRAM = """
import json
import math
import random
from pathlib import Path

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider

SPECIAL = [
    2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63, 2**63 + 1, 10**20, 10**22 + 1, 0, -0.0,
    math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.1, True, False, None,
    "", "\\0", "NaN", "\\U0001f40e", "\\u2028", "__proto__", "x" * 100_000, "\\u017e\\U0001f40e" * 20_000,
    {"__proto__": {"polluted": True}}, {"constructor": 1, "": 2}, {"a.b[0]": [{"\\"": "'"}]},
    [], {}, [[]], [None, None], {"then": 1, "toString": "x", "hasOwnProperty": 0},
]
KEYS = ["a", "", "__proto__", "a.b", "[0]", "\\u017e", "4dabf18193072939515e22adb298388x", "constructor", "length"]


def drawn(draw, depth):
    kind = draw.randrange(10 if depth else 7)
    if kind < 3:
        return draw.choice(SPECIAL)
    if kind == 3:
        return draw.getrandbits(draw.choice([8, 32, 53, 54, 64, 80])) * draw.choice([1, -1])
    if kind == 4:
        return draw.choice([1, -1]) * draw.random() * 10.0 ** draw.randrange(-300, 300)
    if kind < 7:
        ranges = [(0, 0x80), (0, 0xD800), (0xE000, 0x110000)]
        return "".join(chr(draw.randrange(*draw.choice(ranges))) for _ in range(draw.randrange(20)))
    if kind == 7:
        return [drawn(draw, depth - 1) for _ in range(draw.randrange(4))]
    if kind == 8:
        return {draw.choice(KEYS): drawn(draw, depth - 1) for _ in range(draw.randrange(4))}
    deep = drawn(draw, 0)
    for level in range(draw.choice([5, 20, 26])):
        deep = [deep] if level % 2 else {"d": deep}
    return deep


def same(one, other):
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        if one != one or other != other:
            return one != one and other != other
        return one == other and (one != 0 or math.copysign(1, one) == math.copysign(1, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


# The SDK leaves out members that are None, and sends numbers as doubles: from 1e21 on that is taken for what was meant.
def expected(value):
    if isinstance(value, dict):
        return {key: expected(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [expected(item) for item in value]
    return float(value) if isinstance(value, int) and abs(value) >= 10**21 else value


def note(what, name, kept):
    with Path("seen.jsonl").open("a") as file:
        file.write(json.dumps([what, name, kept]) + "\\n")


VALUES = {f"value-{number:03}": drawn(random.Random(f"SEED-{number}"), 3) for number in range(NUMBER)}
VALUES |= {f"special-{number:03}": value for number, value in enumerate(SPECIAL)}
# None at the top is left out.
VALUES = {name: [expected(value)] for name, value in VALUES.items()}


class Keeping(ResourceProvider):
    def create(self, props):
        name = props["name"]
        if "in" in props:
            note("input", name, same(props["in"], VALUES[name.removeprefix("in-")]))
            return CreateResult(name, {"name": name})
        return CreateResult(name, {"name": name, "value": VALUES[name.removeprefix("out-")]})

    def diff(self, id_, olds, news):
        name = news["name"]
        if "in" not in news:
            note("output", name, same(olds["value"], VALUES[name.removeprefix("out-")]))
        return DiffResult(changes=False)


class Kept(Resource):
    def __init__(self, name, **inputs):
        super().__init__(Keeping(), name, {"name": name, "value": None, **inputs})


for name, value in VALUES.items():
    Kept(f"in-{name}", **{"in": value})
    Kept(f"out-{name}")
"""


@pytest.fixture(scope="module", params=by_day(["directory", "s3", "postgres"], lambda store, _: store == "directory"))
def place(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The variables of a store of each kind."""
    if request.param == "directory":
        yield {}
        return
    server = [str(SERVERS / "postgres-server")]
    if request.param == "s3":
        server = [sys.executable, str(SERVERS / "servers" / "moto_server.py")]
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        assert said, "no server; what is missing is said above"
        if request.param == "s3":
            url = f"s3://states/values?region=us-east-1&endpoint=http://127.0.0.1:{said}"
            yield {"MALOKO_BACKEND_URL": url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        else:
            yield {"MALOKO_BACKEND_URL": f"{said}&schema=values"}
        process.stdin.close()


def test_values_survive_in_every_store_or_it_is_said_that_they_do_not(tmp_path: Path, place: dict[str, str]) -> None:
    project = Project(tmp_path)
    project.environment |= place
    project.write("__main__.py", PROGRAM.replace("SEED", str(SEED)).replace("NUMBER", str(NUMBER)))
    project.run("stack", "init", "dev")
    events = project.events("up", "--yes", "--skip-preview", "--stack", "dev")
    again = project.events("up", "--yes", "--skip-preview", "--stack", "dev", "--expect-no-changes")
    diagnostics = [event["diagnosticEvent"] for event in [*events, *again] if "diagnosticEvent" in event]
    named = {str(said.get("urn", "")).rsplit("::", 1)[-1] for said in diagnostics if isinstance(said, dict)}
    seen = [json.loads(line) for line in (tmp_path / "seen.jsonl").read_text().splitlines()]
    assert [what for what, _, _ in seen].count("input") == [what for what, _, _ in seen].count("output") > NUMBER
    silent = [(what, name) for what, name, kept in seen if not kept and name not in named]
    assert silent == [], f"again: MALOKO_VALUES_SEED={SEED}"


@pytest.mark.parametrize("value", ["\ud800", "a\udfff", {"\ud800": 1}, [["\udc00x"]]])
def test_what_cannot_survive_is_refused_before_any_call(stack: Stack, value: object) -> None:
    called = []

    class Noting(ResourceProvider):
        def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
            called.append("check")
            return CheckResult(news, [])

        def create(self, props: dict[str, Any]) -> CreateResult:
            called.append("create")
            return CreateResult("made", props)

    def program() -> None:
        Thing(Noting(), "a", {"value": value})

    result = stack.run("update", program)
    assert result.outcome == "failed"
    error = result.error or ""
    assert "'a'" in error
    assert "value" in error
    assert called == []
