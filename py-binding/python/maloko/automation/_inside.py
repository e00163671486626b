"""A command in this process: the same code as the command line, with streams and an environment of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pulumi.automation import CommandResult, PulumiFn

from maloko._command_line.origin import About, about
from maloko._maloko import LibraryRun
from maloko._providers.calls import end_printed_lines
from maloko._reasons import why_of_json
from maloko._run.host import Host
from maloko._run.program import attach_here, run_program
from maloko.automation._listeners import Delivery, Listeners
from maloko.automation._outcomes import CommandOutcome, Operation
from maloko.automation._progress import EVERY
from maloko.automation._running import Run
from maloko.automation._threads import SCOPE, where_no_loop_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from maloko._maloko import Engine


class _LanguageHost:
    """What the command line asks of Python when the program is a function of this process."""

    def __init__(self, program: PulumiFn | None, cancel: Callable[[], None]) -> None:
        self._program = program
        self._cancel = cancel
        self.interrupt: KeyboardInterrupt | None = None
        """Ctrl-C, where it arrived in the program."""

    def about(self) -> About:
        return about()

    def run_program(
        self, host: Host, engine: Engine, entry: str, _loaded_file: str | None
    ) -> tuple[str, BaseException] | None:
        if self._program is None:
            raise LookupError(f"the program in {entry} runs in a process of its own")
        failure = run_program(host, engine, self._program)
        end_printed_lines()
        if failure is not None and isinstance(failure.error, KeyboardInterrupt):
            # A destroy or a refresh would go on without a program that fails.
            self.interrupt = failure.error
            self._cancel()
        return failure

    def attach(self, host: Host, engine: Engine, _entry: str) -> None:
        attach_here(host, engine)

    def native_packages(self, _entry: str) -> list[tuple[str, str, str | None]]:
        return []

    def resource_classes(self) -> str:
        return "[]"

    def interrupted(self, _signal: int) -> None:
        """Never called: a library sets no signal handlers."""


def run_inside(
    arguments: list[str],
    directory: str,
    variables: Mapping[str, str],
    listeners: Listeners,
    program: PulumiFn | None = None,
    began: Callable[[Run], None] = lambda run: None,
    progress_every: float = EVERY,
    on_host: Callable[[Host | None], None] = lambda host: None,
) -> CommandOutcome:
    """Runs a command to its end; how it ended is in what it gives. Ctrl-C cancels it, and is raised at its end.

    :param directory: where the project is; absolute
    :param variables: what stands for the environment
    :param program: the program, for commands that run it
    :param began: is given what the command can be cancelled by, and what says how far it has come
    :param progress_every: after how many seconds it is told how far it has come
    :param on_host: is given what has the run in Python, and `None` when it is over
    """
    delivery = Delivery(listeners)
    run = LibraryRun(
        arguments,
        directory,
        dict(variables),
        delivery.out,
        delivery.err,
        delivery.event if listeners.wants_events else None,
        delivery.progress if listeners.wants_progress else None,
        progress_every,
        listeners.wants_messages_alone,
    )
    began(run)
    scope = SCOPE.get()
    if scope is not None:
        scope.enter(run)

    def work() -> tuple[
        int,
        str,
        tuple[
            str,
            dict[str, int],
            bool,
            str | None,
            BaseException | None,
            str | None,
            str | None,
            tuple[list[str], list[str], list[str], str | None],
        ]
        | None,
        str | None,
    ]:
        host = Host()
        language_host = _LanguageHost(program, run.cancel)
        on_host(host)
        try:
            finished = run.run(language_host, host)
        finally:
            on_host(None)
            host.close()
        if language_host.interrupt is not None:
            raise language_host.interrupt
        return finished

    try:
        # Only a program needs a thread without an event loop.
        code, message, end, why = work() if program is None else where_no_loop_runs(work, run.cancel)
        if message:
            delivery.err(f"error: {message}\n".encode())
    finally:
        if scope is not None:
            scope.leave(run)
        delivery.close()
    operation = None
    if end is not None:
        outcome, changes, _, error, exception, urn, method, (read, warnings, differences, page) = end
        told = (tuple(read), tuple(warnings), tuple(differences), page)
        operation = Operation(outcome, changes, error, exception, urn, method, *told)
    result = CommandResult(stdout=listeners.out.text(), stderr=listeners.err.text(), code=code)
    return CommandOutcome(result, operation, why_of_json(why))


def absolute(directory: str) -> str:
    """The directory as an absolute path."""
    return str(Path(directory).absolute())
