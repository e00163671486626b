"""Results of operations: those of the official API with the page of their run, and one that its first versions lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pulumi import automation as official
from pulumi.automation import UpdateSummary
from pulumi.automation._stack import ImportResult as OfficialImportResult

from maloko._maloko import page_of_record

if TYPE_CHECKING:
    from pulumi.automation._stack import RenameResult

    from maloko.automation._operate import OperationResult
else:
    try:
        from pulumi.automation._stack import RenameResult
    except ImportError:

        class RenameResult:
            """The outcome of renaming a stack."""

            def __init__(self, stdout: str, stderr: str, summary: UpdateSummary | None) -> None:
                self.stdout = stdout
                self.stderr = stderr
                self.summary = summary


class _WithPage:
    """The result of a run."""

    # No member of the object: those are what results are shown and compared by.
    __slots__ = ("_changes", "_record")

    _changes: dict[str, int]
    _record: str | None

    @property
    def changes(self) -> dict[str, int]:
        """The number of resources by what was done to them, as the summary has it, which need not be asked for."""
        return dict(getattr(self, "_changes", {}))

    def page(self) -> str:
        """The page of this run, as HTML: what it did and in which order, why it was slow, why something is replaced.

        It has no secrets, and opens in a browser without any request. Of a large run it shows less; the option `page`
        of the operation writes all of it to a file.

        :raises LookupError: when nothing was kept of the run: it was too large, or a command of the caller's own ran it
        """
        record = getattr(self, "_record", None)
        if record is None:
            raise LookupError(
                "nothing was kept of the run for its page: it is too large, or a command of your own has run it; give "
                "the operation `page`, a file to write it to"
            )
        return page_of_record(record)


class UpResult(_WithPage, official.UpResult):
    """The outcome of `up`."""


class PreviewResult(_WithPage, official.PreviewResult):
    """What an operation would do."""


class RefreshResult(_WithPage, official.RefreshResult):
    """The outcome of `refresh`."""


class DestroyResult(_WithPage, official.DestroyResult):
    """The outcome of `destroy`."""


class ImportResult(_WithPage, OfficialImportResult):
    """The outcome of `import_resources`."""


Result = TypeVar("Result", bound=_WithPage)


def with_page(result: Result, done: OperationResult) -> Result:
    """The result with what its run did, and what was kept of it for its page."""
    result._record = done.page
    result._changes = done.changes
    return result


__all__ = ["DestroyResult", "ImportResult", "PreviewResult", "RefreshResult", "RenameResult", "UpResult", "with_page"]
