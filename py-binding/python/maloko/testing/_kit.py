"""What a test has of the kit: its stacks, and what must hold at its end."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko.testing import _values
from maloko.testing._operations import _outcome
from maloko.testing._operations._leftovers import tear_down
from maloko.testing._operations._outcome import Run
from maloko.testing._operations._pending import Pending
from maloko.testing._worlds import orphans

if TYPE_CHECKING:
    from maloko.testing._direct import Direct
    from maloko.testing._operations._calls import Call
    from maloko.testing._operations._stack import Stack


class Kit:
    """The fixture `maloko`: makes stacks, and tears them down at the end of the test."""

    ANY = _values.ANY
    UNKNOWN = _values.UNKNOWN
    SECRET = _values.SECRET
    Secret = _values.Secret
    capture = staticmethod(_values.capture)
    matches = staticmethod(_values.matches)
    assert_no_changes = staticmethod(_outcome.assert_no_changes)
    assert_no_replacements = staticmethod(_outcome.assert_no_replacements)
    assert_no_deletes = staticmethod(_outcome.assert_no_deletes)
    assert_upgrade_safe = staticmethod(_outcome.assert_upgrade_safe)

    def __init__(self, test: str = "", seed: int = 0) -> None:
        """
        :param test: the test's name, for messages.
        :param seed: what automatic names are drawn from.
        """
        self.test = test
        self.seed = seed
        self.stacks: list[Stack] = []
        """The stacks of the test, in the order in which they were made."""
        self.plugins = "stubs"
        """Are resources of packages stubbed, or do plugins run (`real`), where a stack does not say?"""
        self.schemas: list[Path] = []
        """Schemas that stubs go by, as files and folders, where a stack does not say."""
        self.parallel: int | None = None
        """Provider operations at a time, whatever the stacks say."""
        self.directory = Path()
        """Where the test's files are: baselines, cassettes, calls."""
        self.records = False
        """Are cassettes written anew (`pytest --maloko-record`)?"""
        self.cloud: Path | None = None
        """The directory below which stacks are kept on disk (tests marked with `real_cloud`)."""
        self.pages: Path | None = None
        """The directory for the page of the last run, if the test fails (`pytest --maloko-page`)."""
        self.record: str | None = None
        """What was noted of the last run for its page."""
        self._later: list[Pending] = []
        self._direct: list[Direct] = []
        self._failures: list[tuple[BaseException, Stack, Run]] = []
        self.over = False
        """Has the test ended?"""

    def stack(self, program: Any, **settings: Any) -> Stack:
        """A private stack in memory.

        :param program: a program function (sync or async); a class of resources; or a provider, class or object.
        :param settings: `config`, `secrets` (by key); `references` (outputs of other stacks by name); `inputs` and
            `resource` (its name) where a class or provider is given; `project`, `name`; `parallel`; `real_time`;
            `world` (what must be empty at the end); `quiet` (seconds that a program may wait while nothing goes on);
            `stubs` (what stands for resources and functions of packages, by token) and `schemas` (what they go by:
            files and folders, relative to the test's file), or `plugins="real"`.
        """
        from maloko.testing._operations._stack import Stack

        if self.over:
            raise MalokoError(
                "the test is over, and its kit with it: a stack is made while the test runs, by its own fixture"
            )
        known = list(inspect.signature(Stack).parameters)[2:]
        for name in settings:
            if name not in known:
                raise TypeError(f"a stack has no setting '{name}'; there are {', '.join(known)}")
        return Stack(self, program, **settings)

    def direct(self, provider: Any, **settings: Any) -> Direct:
        """A provider without an engine: its methods are called as the engine would call them, and what they return is
        read as the engine reads it. `config=` is what `configure` is given. `close` is called when the test ends."""
        from maloko.testing._direct import Direct

        self._direct.append(Direct(provider, **settings))
        return self._direct[-1]

    def cassette(self, path: str | Path, *, record: str | None = None, **options: Any) -> AbstractContextManager[Any]:
        """Replays HTTP traffic from a file beside the test (needs the extra `maloko[cassettes]`).

        :param record: vcrpy's record mode; `none` unless `pytest --maloko-record` is given, which makes it `all`.
        :param options: more of vcrpy's.
        """
        from maloko.testing._recorded._cassettes import cassette

        mode = record or ("all" if self.records else "none")
        return cassette(self.directory / path, mode, options, self._secrets, self._one_call_at_a_time())

    def _secrets(self) -> set[str]:
        return {secret for stack in self.stacks for secret in stack._secret_texts()}

    @contextmanager
    def _one_call_at_a_time(self) -> Iterator[None]:
        parallel, self.parallel = self.parallel, 1
        try:
            yield
        finally:
            self.parallel = parallel

    def replay(self, provider: Any, logged: Call | str | Path, **settings: Any) -> Any:
        """Makes a logged call again, and fails when it does not come to the same (see `replay`). A file counts from the
        test's directory."""
        from maloko.testing._operations._calls import Call
        from maloko.testing._recorded._replay import replay

        return replay(provider, logged if isinstance(logged, Call) else self.directory / logged, **settings)

    @contextmanager
    def fails(
        self,
        name: str | None = None,
        *,
        method: str | None = None,
        match: str | re.Pattern[str] | None = None,
        raises: type[BaseException] = Exception,
    ) -> Iterator[Failure]:
        """Expects that an operation fails in this context.

        :param name: the resource at fault.
        :param method: the provider method at fault.
        :param match: a pattern that is found in the message.
        :param raises: the exception's class.

        Raises `AssertionError` when nothing fails, or something else does.
        """
        before = len(self._failures)
        failure = Failure()
        expected = f"{method or 'a step'} of '{name}'" if name else (method or "an operation")
        try:
            yield failure
        except AssertionError:
            raise
        except raises as error:
            failure.error = error
        except BaseException as error:
            if len(self._failures) == before:
                raise
            raise AssertionError(
                f"expected {raises.__qualname__}, and {type(error).__qualname__} was raised: {error}"
            ) from error
        else:
            raise AssertionError(f"expected {expected} to fail, and nothing failed")
        if len(self._failures) == before:
            raise AssertionError(
                f"expected {expected} to fail; {failure.error!r} was raised outside of an operation"
            ) from failure.error
        _, _, run = self._failures[-1]
        failure.run = run
        failure.check(expected, name, method, match)

    def around(self, stack: Stack, verb: str, once: Callable[[dict[str, Any] | None], Run]) -> Run:
        """Runs one operation of a stack; `crash_everywhere` puts its crash in here."""
        return once(None)

    def adopt(self, stack: Stack) -> None:
        """Takes a stack that is to be torn down."""
        self.stacks.append(stack)

    def later(self, pending: Pending) -> Pending:
        """Takes what must be awaited before the test ends."""
        self._later.append(pending)
        return pending

    def failed(self, stack: Stack, run: Run, error: BaseException) -> None:
        """Takes note of an operation that failed."""
        self._failures.append((error, stack, run))
        note = _note(run)
        if note and hasattr(error, "add_note") and note not in getattr(error, "__notes__", ()):
            error.add_note(note)

    def ran(self, run: Run) -> None:
        """Takes note of an operation: the last one is shown that failed, changed something or would have."""
        tells = run.outcome != "succeeded" or (not self.over and run.changes.keys() != {"same"})
        if run._record is not None and (tells or self.record is None):
            self.record = run._record

    def close(self, *, keep: bool = False) -> list[str]:
        """Ends the test: tears its stacks down, the newest first, and gives what is wrong, in words.

        :param keep: leave what the stacks have made.
        """
        self.over = True
        problems = [
            f"{pending.what} was never awaited, so that nothing was done: write `await` before it"
            for pending in self._later
            if not pending.awaited
        ]
        for direct in reversed(self._direct):
            try:
                direct.close()
            except Exception as error:  # what a provider's method raises is the test's to know
                problems.append(f"close of {type(direct.provider).__qualname__} raised {type(error).__name__}: {error}")
        worlds: list[Any] = []
        for stack in reversed(self.stacks):
            if stack._left is not None or keep:
                continue
            left = tear_down(stack).problems
            problems.extend(left)
            if stack._world is not None and not left and all(stack._world is not world for world in worlds):
                worlds.append(stack._world)
            if stack._ledger is not None and not left:
                stack._ledger.close()
        problems.extend(problem for world in worlds for problem in orphans(world))
        return problems


class Failure:
    """What failed in the context of `fails`."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        """The exception."""
        self.run: Run | None = None
        """The operation."""

    def check(self, expected: str, name: str | None, method: str | None, match: str | re.Pattern[str] | None) -> None:
        """Fails unless it is the failure that was expected."""
        run = self.run
        if run is None:
            return
        calls = [call for call in run.calls if call.error is not None]
        found = [call for call in calls if name in (None, call.name) and method in (None, call.method)]
        steps = [entry.name for entry in run.plan.entries if entry.failed]
        told = [urn.rsplit("::", 1)[-1] for severity, urn, _ in run.diagnostics if severity == "error" and urn]
        by_name = name is not None and method is None and name in (*steps, *told)
        if (name is not None or method is not None) and not found and not by_name:
            failed = ", ".join(f"{call.method} of '{call.name}'" for call in calls) or ", ".join(steps) or "no call"
            raise AssertionError(f"expected {expected} to fail; what failed: {failed}. {self.error}") from self.error
        if match is not None:
            texts = [str(self.error), *(call.error or "" for call in found), *run.messages("error")]
            if not any(re.search(match, text) for text in texts):
                raise AssertionError(
                    f"expected a failure that matches {match!r}; the message is: {self.error}"
                ) from self.error


def _note(run: Run) -> str:
    call = next((call for call in run.calls if call.error is not None), None)
    if call is not None:
        return f"maloko: raised in {call.method} of '{call.name}' ({call.urn}), during {run.verb}"
    return ""
