"""What operations of the Automation API raise.

The classes are those of `pulumi.automation.errors`, so that handlers written for it go on to work, each with what an
engine in the same process knows more: the exception that the program or a provider raised, as the object that it is
(also as `__cause__`, with its traceback), the resource, and the provider's method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulumi.automation import errors as _official
from pulumi.automation.errors import InvalidVersionError

from maloko._errors import MalokoError
from maloko._reasons import Holder, Reason, Why

if TYPE_CHECKING:
    from pulumi.automation import CommandResult

    from maloko.automation._outcomes import CommandOutcome, Operation

__all__ = [
    "CommandError",
    "CompilationError",
    "ConcurrentUpdateError",
    "Holder",
    "InlineSourceRuntimeError",
    "InvalidVersionError",
    "LocalProgramError",
    "Reason",
    "RuntimeError",
    "StackAlreadyExistsError",
    "StackNotFoundError",
    "UnsupportedError",
]


class CommandError(_official.CommandError):
    """A command failed; its text has the exit code, stdout and stderr."""

    def __init__(
        self, command_result: CommandResult, operation: Operation | None = None, why: Why | None = None
    ) -> None:
        super().__init__(command_result)
        self.name: str = type(self).__name__
        self.result: CommandResult = command_result
        """The exit code, stdout and stderr."""
        self.code: int = command_result.code
        """The exit code; `maloko help command-line` has the list."""
        self.stdout: str = command_result.stdout
        """What the command wrote."""
        self.stderr: str = command_result.stderr
        """Its messages."""
        self.exception: BaseException | None = None if operation is None else operation.exception
        """What the program or a provider raised, the very object; of a local program a `LocalProgramError`."""
        self.urn: str | None = None if operation is None else operation.urn
        """The resource that failed first."""
        self.method: str | None = None if operation is None else operation.method
        """The provider's method that failed, such as `create`."""
        self.reason: Reason = Reason.OTHER if why is None else why.reason
        """What kind of failure it was; `reason.may_pass` says whether to try again."""
        self.text: str = "" if why is None else why.text
        """The first line of its message, without secrets."""
        self.holder: Holder | None = None if why is None else why.holder
        """Who works on the stack, where `reason` is `locked`."""
        self.transient: bool = why is not None and why.transient
        """Does the provider that failed say that it may pass: by `maloko.TryLater`, or by its `retryable_errors`?"""
        self.retry_after: float | None = None if why is None else why.retry_after
        """Seconds to wait before it is tried again, as a `maloko.TryLater` says them."""
        self.needs: str | None = None if why is None else why.needs
        """The stack that is missing, as `project/stack`, where `reason` is `needs`."""

    def __reduce__(self) -> tuple[Any, ...]:
        # To other processes (Celery, multiprocessing) goes what they can always read: no exception of a user's class.
        names = ("urn", "method", "reason", "text", "holder", "transient", "retry_after", "needs")
        kept = {name: self.__dict__[name] for name in names}
        return type(self), (self.result,), kept


class StackNotFoundError(CommandError, _official.StackNotFoundError):
    """There is no stack of that name."""


class StackAlreadyExistsError(CommandError, _official.StackAlreadyExistsError):
    """There is a stack of that name already."""


class ConcurrentUpdateError(CommandError, _official.ConcurrentUpdateError):
    """Somebody else works on the stack."""


class InlineSourceRuntimeError(CommandError, _official.InlineSourceRuntimeError):
    """An inline program raised an exception, which is the `__cause__`."""


class RuntimeError(CommandError, _official.RuntimeError):  # noqa: A001 the official name
    """A local program raised an exception."""


class CompilationError(CommandError, _official.CompilationError):
    """A local program is not valid source code."""


class UnsupportedError(MalokoError, NotImplementedError):
    """What only Pulumi Cloud or the `pulumi` command line can do; the message names it and what to do instead."""


class LocalProgramError(Exception):
    """An exception that was raised in the process of a local program, where the object itself has stayed."""

    def __init__(self, type_name: str, message: str, traceback: str) -> None:
        super().__init__(f"{type_name}: {message}" if message else type_name)
        self.type: str = type_name
        """The name of the exception's class."""
        self.message: str = message
        """What it said."""
        self.traceback: str = traceback
        """Its traceback, formatted, with the program's frames only."""


_OF_REASONS: dict[Reason, type[CommandError]] = {
    Reason.NO_STACK: StackNotFoundError,
    Reason.LOCKED: ConcurrentUpdateError,
    Reason.STACK_EXISTS: StackAlreadyExistsError,
}


def error_of(finished: CommandOutcome, *, inline: bool) -> CommandError:
    """The error for a command that failed, of the class that the official API has for the case.

    :param inline: whether the program was a function of this process
    """
    kind: type[CommandError] = CommandError
    operation, why = finished.operation, finished.why
    if operation is not None:
        if operation.exception is not None and operation.urn is None:
            kind = InlineSourceRuntimeError if inline else _of_local_program(operation.exception)
    elif why is not None:
        kind = _OF_REASONS.get(why.reason, CommandError)
    error = kind(finished.result, operation, why)
    error.__cause__ = error.exception
    return error


def _of_local_program(exception: BaseException) -> type[CommandError]:
    is_syntax = isinstance(exception, LocalProgramError) and exception.type in ("SyntaxError", "IndentationError")
    return CompilationError if is_syntax else RuntimeError
