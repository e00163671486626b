"""Results that the first supported versions of the SDK do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulumi.automation import UpdateSummary

if TYPE_CHECKING:
    from pulumi.automation._stack import RenameResult
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


__all__ = ["RenameResult"]
