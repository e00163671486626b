"""What tests keep in files: baselines of older releases, calls that are made again, snapshots."""

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from pulumi.dynamic import ConfigureRequest, CreateResult, ReadResult, ResourceProvider

from maloko import MalokoError
from maloko.testing import ANY, Kit, capture, matches, replay

pytest_plugins = ["pytester"]

PROVIDER = """
    import pulumi
    import pytest
    from pulumi.dynamic import CheckResult, CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult

    class P(ResourceProvider):
        def create(self, props):
            return CreateResult("made", {**props})

        def diff(self, id_, olds, news):
            changed = [key for key in news if olds.get(key) != news[key]]
            return DiffResult(changes=bool(changed), replaces=[key for key in changed if key in REPLACES])

        def update(self, id_, olds, news):
            return UpdateResult({**news})
"""


def write(pytester: pytest.Pytester, test: str, replaces: str = "()") -> None:
    pytester.makepyfile(test_it=f"REPLACES = {replaces}\n" + textwrap.dedent(PROVIDER) + textwrap.dedent(test))


RECORDED = """
    def test_it(maloko):
        s = maloko.stack(P, inputs={"zone": "a", "key": maloko.Secret("hunter22")})
        s.up()
        s.save_baseline("kept/v1.json")
"""
UPGRADED = """
    def test_it(maloko):
        s = maloko.stack(P, inputs={"zone": ZONE, "key": "[secret]"})
        plan = s.upgrade_plan("kept/v1.json")
        maloko.assert_upgrade_safe(plan)
        assert plan == PLAN
        assert s.resources() == {}
"""


def upgraded(pytester: pytest.Pytester, zone: str, plan: str, replaces: str = "()") -> pytest.RunResult:
    write(pytester, UPGRADED.replace("ZONE", repr(zone)).replace("PLAN", plan), replaces)
    return pytester.runpytest_inprocess()


def test_an_upgrade_is_checked_against_a_baseline(pytester: pytest.Pytester) -> None:
    result = upgraded(pytester, "a", "{}")
    result.stdout.fnmatch_lines(
        ["*the baseline *v1.json cannot be read: *; `s.save_baseline(path)` writes one after *"]
    )
    write(pytester, RECORDED)
    assert pytester.runpytest_inprocess().parseoutcomes() == {"passed": 1}
    kept = (pytester.path / "kept/v1.json").read_text()
    assert "hunter22" not in kept
    assert "__provider" not in kept
    assert upgraded(pytester, "a", "{}").parseoutcomes() == {"passed": 1}
    result = upgraded(pytester, "b", "{}", replaces="('zone',)")
    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["*the upgrade is not safe: *", "*replace it because of zone*"])


def test_an_upgrade_that_only_changes_something_is_safe(pytester: pytest.Pytester) -> None:
    write(pytester, RECORDED)
    assert pytester.runpytest_inprocess().parseoutcomes() == {"passed": 1}
    assert upgraded(pytester, "b", "{'it': 'update'}").parseoutcomes() == {"passed": 1}


def test_a_known_secret_in_a_property_that_is_not_marked_stands_in_no_baseline_and_no_snapshot(
    pytester: pytest.Pytester,
) -> None:
    write(
        pytester,
        """
        class Careless(P):
            def create(self, props):
                derived = {"derived": props["pw"], "list": [f"https://me:{props['pw']}@host/"], "x": props["deep"]["x"]}
                return CreateResult("made", {**props, **derived})

        def program():
            deep = pulumi.Output.secret({"x": "hunter33"})
            Thing(Careless(), "a", {"pw": pulumi.Config().require_secret("pw"), "deep": deep})

        class Thing(pulumi.dynamic.Resource):
            def __init__(self, provider, name, props):
                super().__init__(provider, name, props)

        def test_it(maloko):
            s = maloko.stack(program, secrets={"pw": "hunter2/&"})
            s.up()
            s.save_baseline("kept/v1.json")
            text = str(s.snapshot())
            assert "hunter" not in text
            assert '"derived": "<secret>"' in text
        """,
    )
    assert pytester.runpytest_inprocess().parseoutcomes() == {"passed": 1}
    kept = (pytester.path / "kept/v1.json").read_text()
    assert "hunter" not in kept
    assert '"derived": "[secret:pw]"' in kept
    assert '"https://me:[secret:pw]@host/"' in kept
    assert '"x": "[secret]"' in kept


def test_a_damaged_baseline_is_named(pytester: pytest.Pytester) -> None:
    (pytester.path / "kept").mkdir()
    (pytester.path / "kept/v1.json").write_text("{")
    upgraded(pytester, "a", "{}").stdout.fnmatch_lines(["*the baseline *v1.json cannot be read: *"])


def test_a_logged_call_is_made_again(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        """
        import json

        def test_it(maloko, tmp_path):
            s = maloko.stack(P, inputs={"size": 1, "key": maloko.Secret("hunter22")})
            s.up()
            s.calls.create["it"].save(tmp_path / "call.json")
            assert "hunter22" not in (tmp_path / "call.json").read_text()
            assert maloko.replay(P, tmp_path / "call.json").id == "made"
            assert maloko.replay(P, s.calls.create["it"]).id == "made"

            class Other(P):
                def create(self, props):
                    return CreateResult("other", {**props, "size": 2})

            wrong = 'id: expected "made", got "other"\\n  outs.size: expected 1, got 2'
            with pytest.raises(AssertionError, match=wrong):
                maloko.replay(Other, tmp_path / "call.json")
            call = json.loads((tmp_path / "call.json").read_text())
            call["result"]["id"] = call["result"]["outs"]["size"] = "*"
            (tmp_path / "call.json").write_text(json.dumps(call))
            maloko.replay(Other, tmp_path / "call.json")

        def test_no_call(maloko, tmp_path):
            with pytest.raises(Exception, match="is no call that could be made again"):
                maloko.replay(P, tmp_path / "nothing.json")
        """,
    )
    assert pytester.runpytest_inprocess().parseoutcomes() == {"passed": 2}


def failing(error: Exception) -> type[ResourceProvider]:
    class Failing(ResourceProvider):
        def create(self, _props: dict[str, Any]) -> CreateResult:
            raise error

    return Failing


def test_a_logged_call_that_failed_has_to_fail_in_the_same_way(maloko: Kit, tmp_path: Path) -> None:
    class Working(ResourceProvider):
        def create(self, props: dict[str, Any]) -> CreateResult:
            return CreateResult("made", props)

    file = tmp_path / "call.json"
    s = maloko.stack(failing(OSError("full")), inputs={})
    with maloko.fails("it"):
        s.up()
    s.calls.create["it"].save(file)
    assert maloko.replay(failing(OSError("full")), file) is None
    with pytest.raises(AssertionError, match=r"`create` fails otherwise than logged: OSError: other\nlogged: .*full"):
        maloko.replay(failing(OSError("other")), file)
    with pytest.raises(AssertionError, match="does not fail, as it did when it was logged"):
        maloko.replay(Working, file)

    def caused() -> OSError:
        error = OSError("full")
        error.__cause__ = ConnectionError("no route")
        return error

    other = maloko.stack(failing(caused()), inputs={})
    with maloko.fails("it"):
        other.up()
    other.calls.create["it"].save(file)
    assert maloko.replay(failing(caused()), file) is None


class Regional(ResourceProvider):
    region = ""

    def configure(self, request: ConfigureRequest) -> None:
        self.region = request.config.require("region")

    def create(self, _props: dict[str, Any]) -> CreateResult:
        return CreateResult(self.region, {})

    def find(self, key: str, _props: dict[str, Any]) -> ReadResult:
        return ReadResult(key, {"region": self.region})


def test_logged_calls_of_all_methods_are_made_again_of_a_provider_that_is_configured_before(tmp_path: Path) -> None:
    file = tmp_path / "call.json"
    config = {"project:region": "north"}
    found = {"method": "find", "args": {"key": "k", "props": {}}, "result": {"id": "k", "outs": {"region": "nor*"}}}
    for call in (
        {"method": "configure", "args": {"config": config}},
        {"method": "configure", "args": {"config": {}}, "error": "*required configuration*"},
        found,
        {"method": "delete", "args": {"id": "k", "props": {}}},
    ):
        file.write_text(json.dumps(call))
        replay(Regional, file, config={"region": "north"})
    file.write_text(json.dumps(found))
    with pytest.raises(AssertionError, match=r'outs.region: expected "nor\*", got "south"'):
        replay(Regional, file, config={"region": "south"})
    file.write_text(json.dumps({"method": "configure", "args": {"config": {"shop:region": "north"}}}))
    replay(Regional, file, project="shop")
    with pytest.raises(AssertionError, match="required configuration"):
        replay(Regional, file)
    file.write_text(json.dumps(found))
    replay(Regional, file, config={"shop:region": "north"}, project="shop")
    file.write_text(json.dumps({**found, "method": "close"}))
    with pytest.raises(MalokoError, match="`close` cannot be called by itself"):
        replay(Regional, file)


def test_values_stand_for_others_in_what_is_expected() -> None:
    id_ = capture()
    assert matches({"a": 1, "b": [{"id": id_}]}, {"a": 1, "b": [{"id": "x", "more": 1}]})
    assert id_.value == "x"
    assert matches({"a": ANY}, {"a": 1})
    assert not matches({"b": ANY}, {"a": 1})
    assert not matches({"a": [1]}, {"a": [1, 2]})
    assert matches({"a": re.compile("ex")}, {"a": "text"})
    with pytest.raises(AssertionError, match="nothing was captured"):
        _ = capture().value


def test_snapshots_are_the_same_in_every_run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a worker of xdist, as this test may run in, syrupy leaves its summary to the controller.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    write(
        pytester,
        """
        import datetime
        import tempfile
        import uuid

        class Varying(P):
            def create(self, props):
                id_ = str(uuid.uuid4())
                now = datetime.datetime.now().isoformat()
                return CreateResult(id_, {**props, "self": f"/things/{id_}", "at": now, "in": tempfile.mkdtemp()})

        def test_it(maloko, snapshot):
            s = maloko.stack(Varying, inputs={"size": 1, "key": maloko.Secret("hunter22")})
            assert s.preview() == snapshot
            s.up(settle=False)
            s.set(size=2)
            assert s.preview() == snapshot
            assert s.snapshot() == snapshot
        """,
    )
    assert pytester.runpytest_subprocess("--snapshot-update").ret == 0
    kept = next((pytester.path / "__snapshots__").iterdir()).read_text()
    assert "hunter22" not in kept
    assert "size: 1 -> 2" in kept
    assert '"self": "/things/<id of it>"' in kept
    assert '"at": "<time>"' in kept
    assert '"in": "<temporary>"' in kept
    result = pytester.runpytest_subprocess()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["3 snapshots passed."])
