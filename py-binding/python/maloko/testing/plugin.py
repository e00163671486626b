"""The pytest plugin: the fixture `maloko`, crashes at every point, evidence of failures. Loads little until used."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from maloko.testing._crash import CrashPoint
    from maloko.testing._kit import Kit

_KIT = pytest.StashKey["Kit"]()
_CRASH = pytest.StashKey["CrashPoint"]()
_ORIGINAL = pytest.StashKey[str]()
"""The id of the test, kept with each of its crashes."""
_ID = pytest.StashKey[str]()
"""The id of a crash, where the item must have that of the test."""
_REPORTED = "maloko_nodeid"
"""On a report of a worker of xdist: the id of the crash that it is of."""
_OWN = str(Path(__file__).parents[1]) + os.sep
"""Where the files of the package are."""
LAW_CAUSE = "maloko_cause"
"""On a report of a broken law: what the provider raised."""
_LAW = re.compile(r"Skipped: (L\d+ (?:needs|is waived).*)", re.DOTALL)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("maloko", "tests of Pulumi programs and providers, with the engine in memory")
    group.addoption(
        "--maloko-crash", metavar="KIND@POINT", help="run tests marked with crash_everywhere at this point only"
    )
    group.addoption(
        "--maloko-seed", type=int, metavar="N", help="what automatic names are drawn from (a number for each test)"
    )
    group.addoption("--maloko-record", action="store_true", help="write cassettes anew")
    group.addoption(
        "--maloko-sweep", action="store_true", help="run no test: delete what killed runs have left in clouds"
    )
    group.addoption(
        "--maloko-forget-unresolved",
        action="append",
        default=[],
        metavar="KEYS",
        help="with --maloko-sweep: it is known what became of the objects of these creates (operation keys, or all)",
    )
    group.addoption(
        "--maloko-plugins",
        choices=("stubs", "real"),
        help="stub resources of packages (the default), or run their plugins, where a stack does not say",
    )
    parser.addini("maloko_plugins", "what --maloko-plugins is by default", default="stubs")
    group.addoption(
        "--maloko-schemas",
        action="append",
        default=[],
        metavar="PATH",
        help="check what stubs of packages are given against this schema, or those in this folder; without it those of "
        "MALOKO_SCHEMAS, a list as PATH is one",
    )
    parser.addini("maloko_schemas", "what --maloko-schemas are by default", type="paths", default=[])
    group.addoption(
        "--maloko-page", metavar="DIR", help="write a page of the last run of each failed test into this directory"
    )
    group.addoption("--maloko-keep", action="store_true", help="leave what tests have made, instead of tearing it down")


def pytest_configure(config: pytest.Config) -> None:
    """The markers, and what options belong together."""
    config.addinivalue_line("markers", "real_cloud: its stacks are kept on disk until they are torn down")
    config.addinivalue_line("markers", "maloko_crash(kinds, sample): set by maloko.testing.crash_everywhere")
    if config.getoption("--maloko-forget-unresolved") and not config.getoption("--maloko-sweep"):
        raise pytest.UsageError("--maloko-forget-unresolved belongs to --maloko-sweep")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Sweeps in the place of running tests, once their modules, where the providers are, have been loaded."""
    config = session.config
    if not config.getoption("--maloko-sweep"):
        return None
    from maloko.testing._sweep import sweep

    done, failed = sweep(config.rootpath, config.getoption("--maloko-forget-unresolved"))
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    for line in [*done, *failed] or ["no run has left anything"]:
        if reporter is not None:
            reporter.write_line(f"maloko: {line}")
    if failed:
        session.testsfailed += len(failed)
    return True


@pytest.fixture
def maloko(request: pytest.FixtureRequest) -> Iterator[Kit]:
    """Stacks in memory with the real engine, torn down at the end of the test (`maloko.testing.Kit`)."""
    from maloko.testing._kit import Kit

    item = request.node
    name = item.stash.get(_ID, item.nodeid)
    if item.get_closest_marker("maloko_crash") is not None:
        from maloko.testing._crash import CrashKit

        kit: Kit = CrashKit(name, _seed(item), item.stash.get(_CRASH, None))
    else:
        kit = Kit(name, _seed(item))
    kit.directory = item.path.parent
    if item.get_closest_marker("real_cloud") is not None:
        kit.cloud = item.config.rootpath
    kit.plugins = item.config.getoption("--maloko-plugins") or item.config.getini("maloko_plugins")
    kit.schemas = _schemas(item.config)
    kit.records = bool(item.config.getoption("--maloko-record"))
    pages: str | None = item.config.getoption("--maloko-page")
    kit.pages = None if pages is None else item.config.invocation_params.dir / pages
    item.stash[_KIT] = kit
    yield kit
    problems = kit.close(keep=bool(item.config.getoption("--maloko-keep")))
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def _schemas(config: pytest.Config) -> list[Path]:
    """Where no stack says: those of the command, or those of the environment, or those of the configuration."""
    named = config.getoption("--maloko-schemas") or os.environ.get("MALOKO_SCHEMAS", "").split(os.pathsep)
    places = [config.invocation_params.dir / path for path in named if path]
    return places or config.getini("maloko_schemas")


def _seed(item: pytest.Item) -> int:
    given: int | None = item.config.getoption("--maloko-seed")
    return zlib.crc32(item.stash.get(_ORIGINAL, item.nodeid).encode()) if given is None else given


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Attaches to the report of a failure what helps to understand it."""
    if call.excinfo is not None and item.stash.get(_KIT, None) is not None:
        call.excinfo = _without_own_frames(call.excinfo)
    outcome: Any = yield
    report = outcome.get_result()
    if item.stash.get(_ID, None) is not None:
        setattr(report, _REPORTED, item.stash[_ID])
    kit = item.stash.get(_KIT, None)
    if kit is None or not report.failed:
        return
    from maloko.testing._evidence import evidence

    crash = item.stash.get(_CRASH, None)
    again = f"pytest '{item.stash.get(_ORIGINAL, item.nodeid)}' --maloko-seed={kit.seed}"
    if crash is not None:
        again += f" --maloko-crash='{crash.id}'"
    try:
        report.sections.extend(evidence(kit, again))
        _attach_page(kit, item, report)
    except Exception as error:  # the failure itself must be seen, whatever is wrong with its evidence
        report.sections.append(
            ("maloko", f"the evidence could not be put together: {error!r}; run it again with {again}")
        )


def _without_own_frames(raised: pytest.ExceptionInfo[BaseException]) -> pytest.ExceptionInfo[BaseException]:
    """The test's line comes first, and then the provider's: the lines between are ours, and help nobody."""
    error, kept = raised.value, None
    entries = list(_entries_of(error.__traceback__))
    for entry in reversed(entries):
        if not entry.tb_frame.f_code.co_filename.startswith(_OWN):
            kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return pytest.ExceptionInfo.from_exc_info((type(error), error, kept or raised.tb))


def _entries_of(entry: TracebackType | None) -> Iterator[TracebackType]:
    """The entries of a traceback, from the outermost on."""
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _attach_page(kit: Kit, item: pytest.Item, report: pytest.TestReport) -> None:
    from maloko.testing._page import write_page

    file = write_page(kit)
    if file is None:
        return
    report.sections.append(("maloko: the page of the last run", str(file)))
    told = ("maloko_page", str(file))
    if told not in item.user_properties:
        # The report of the test's end has those of the item: of that one, junit's file takes them.
        item.user_properties.append(told)
        report.user_properties.append(told)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Gives the report of a crash, when it has come from a worker of xdist, the id of that crash."""
    if hasattr(report, _REPORTED) and hasattr(report, "node"):
        report.nodeid = getattr(report, _REPORTED)
        progress = _progress(report.node.config) if hasattr(report.node, "config") else None
        if progress is not None:
            progress.leave_out(report.nodeid)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Says where a plan is not as expected."""
    import sys

    module = sys.modules.get("maloko.testing._operations._outcome")
    if module is None or op != "==":
        return None
    plan, expected = (left, right) if isinstance(left, module.Plan) else (right, left)
    if not isinstance(plan, module.Plan):
        return None
    if not isinstance(expected, dict):
        return [
            f"a plan is compared with a dict of names and actions, as {{'b': 'create'}}, and not with {expected!r}",
            "",
            *repr(plan).splitlines(),
        ]
    return ["the plan is not as expected", *plan.differences(expected), "", *repr(plan).splitlines()]


# Crashes at every point.


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Runs a test that is marked with `crash_everywhere`: once as it is, and then once for each point and kind."""
    marker = item.get_closest_marker("maloko_crash")
    if marker is None or not isinstance(item, pytest.Function):
        return None
    from maloko.testing._crash import CrashKit, CrashPoint, crash_points

    progress = _progress(item.config)
    if progress is not None:
        progress.leave_out(item.nodeid)
    chosen = item.config.getoption("--maloko-crash")
    if chosen is not None:
        crashes = [CrashPoint.parse(chosen)]
    else:
        # Another item after it, so that fixtures of the module stay.
        good = _run(item, _crashing(item, None))
        kit = item.stash.get(_KIT, None)
        if not good or not isinstance(kit, CrashKit):
            crashes = []
        else:
            crashes = crash_points(kit.points, marker.kwargs["kinds"], marker.kwargs["sample"])
    items = [_crashing(item, crash) for crash in crashes]
    for number, crashing in enumerate(items, 1):
        # A crash that was asked for by its name runs alone, and is the test.
        if progress is not None and chosen is None:
            progress.leave_out(crashing.nodeid)
            if number == len(items):
                progress.count(item.nodeid)
        _run(crashing, items[number] if number < len(items) else nextitem)
    if not items:
        if progress is not None:
            progress.count(item.nodeid)
        item.session._setupstate.teardown_exact(nextitem)
    return True


class _Progress(set[Any]):
    """What counts as done in the percentage: a crash is no test of its own, and its test is done with the last one."""

    def __init__(self, done: set[Any]) -> None:
        super().__init__(done)
        self._left_out: set[str] = set()
        self._reported: dict[str, Any] = {}

    def add(self, test: Any) -> None:
        """A test has reported."""
        if str(test) in self._left_out:
            self._reported[str(test)] = test
        else:
            super().add(test)

    def leave_out(self, nodeid: str) -> None:
        """What reports under this id does not count."""
        self._left_out.add(nodeid)

    def count(self, nodeid: str) -> None:
        """It counts after all."""
        self._left_out.discard(nodeid)
        if nodeid in self._reported:
            super().add(self._reported.pop(nodeid))


def _progress(config: pytest.Config) -> _Progress | None:
    """What pytest counts, where this version of it does so as we know it."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    done = getattr(reporter, "_progress_nodeids_reported", None)
    if isinstance(done, set) and not isinstance(done, _Progress):
        done = reporter._progress_nodeids_reported = _Progress(done)
    return done if isinstance(done, _Progress) else None


def _crashing(item: pytest.Function, crash: CrashPoint | None) -> pytest.Function:
    name = item.name
    if crash is not None:
        name = f"{name[:-1]}-{crash.id}]" if name.endswith("]") else f"{name}[{crash.id}]"
    # What a worker of xdist tells of must have the id of a test that was collected; the controller gives it its own.
    in_worker = hasattr(item.config, "workerinput")
    options: dict[str, Any] = {"originalname": item.originalname, "fixtureinfo": item._fixtureinfo}
    if hasattr(item, "callspec"):
        options["callspec"] = item.callspec
    made = pytest.Function.from_parent(item.parent, name=item.name if in_worker else name, **options)
    made.own_markers = list(item.own_markers)
    _name(made)
    if crash is not None:
        made.stash[_CRASH] = crash
        made.stash[_ORIGINAL] = item.nodeid
        if in_worker:
            made.stash[_ID] = item.nodeid[: -len(item.name)] + name
    return made


def _name(item: pytest.Function) -> None:
    """Newer versions of pytest make a test's id of its parameters, and not of its name."""
    assert item.parent is not None
    wanted = f"{item.parent.nodeid}::{item.name}"
    if item.nodeid != wanted:
        from _pytest.nodeid import NodeId  # type: ignore[import-not-found, unused-ignore]

        item._id = NodeId.parse(wanted)  # type: ignore[attr-defined, unused-ignore]


def _run(item: pytest.Item, after: pytest.Item | None) -> bool:
    """Sets up, calls and tears down; says whether all went well."""
    from _pytest.runner import runtestprotocol

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=after)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return all(report.passed for report in reports)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says which laws were waived or lacked something, and which findings have one cause."""
    lines = []
    for report in terminalreporter.stats.get("skipped", ()):
        where = report.longrepr
        reason = where[2] if isinstance(where, tuple) and len(where) == 3 else ""
        found = _LAW.match(str(reason))
        if found:
            lines.append(f"{report.nodeid.rpartition('::')[0]}: {found.group(1)}")
    if lines:
        terminalreporter.section("laws of providers that were not tried", sep="-")
        for line in lines:
            terminalreporter.line(line)
    _tell_causes(terminalreporter)


def _tell_causes(terminalreporter: Any) -> None:
    causes: dict[tuple[str, str], list[str]] = {}
    for report in terminalreporter.stats.get("failed", ()):
        suite, _, test = report.nodeid.rpartition("::")
        for name, cause in report.user_properties:
            if name == LAW_CAUSE:
                causes.setdefault((suite, cause), []).append(test.split("_")[1].upper())
    for (suite, cause), laws in causes.items():
        if len(laws) > 1:
            terminalreporter.line(f"{suite}: these {len(laws)} findings have one cause ({', '.join(laws)}): {cause}")
