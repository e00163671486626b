from os import PathLike
from typing import Any, Final, SupportsIndex, final

__all__ = ["VERSION", "Completion", "EmbeddedRun", "Engine", "MemoryState", "Pool", "cli_main"]

VERSION: Final[str]
"""
The version of the package.
"""

@final
class Completion:
    """
    Takes the answer of a call that could not answer at once.
    """
    def __call__(self, /, answer: Any) -> None:
        """
        Delivers the answer. The first one counts.
        """
    def on_abandon(self, /, callback: Any) -> None:
        """
        Takes what is to be called when nobody waits for the answer any more.
        """

@final
class EmbeddedRun:
    """
    One operation on a stack that is kept in memory.
    """
    def __new__(cls, /, state: MemoryState, host: Any, kind: str, *, project: str = "project", stack: str = "dev", dry_run: bool = False, parallel: SupportsIndex = 16, config: dict[str, tuple[str, bool]] | None = None, directory: str | PathLike[str] | None = None, update_changed_providers: bool = False) -> EmbeddedRun:
        """
        Begins an operation. `host` is a `maloko._host.Host`; `kind` is `update`, `refresh` or `destroy`.
        """
    @property
    def diagnostics(self, /) -> list[tuple[str, str, str]]:
        """
        Messages as severity, URN and text, in order.
        """
    @property
    def engine(self, /) -> Engine:
        """
        The engine, for the program.
        """
    def finish(self, /, error: str | None = None, exception: Any | None = None) -> tuple[str, dict[str, int], str | None, Any | None]:
        """
        Ends the operation once the program has ended; `error` and `exception` say how it failed. Gives the outcome
        (`succeeded`, `failed`, `cancelled`), the counts by op, the first error and the exception behind it.
        """
    @property
    def steps(self, /) -> list[tuple[str, str]]:
        """
        Steps that were done, as op and URN, in order.
        """

@final
class Engine:
    """
    One operation on one stack, for the monitor and engine objects that the SDK is given.
    """
    def begin(self, /, method: "str", request: "bytes", context: "object", complete: "object") -> "bytes | tuple[int, str] | None":
        """
        Sends a request from the program's event loop, which it never blocks. The answer is returned as `rpc` does, or
        `None` when it takes longer; then `complete` is called with it, from another thread.
        """
    def config(self, /) -> "tuple[dict[str, str], list[str]]":
        """
        The configuration by full key, decrypted, and the keys that are secret.
        """
    @property
    def dry_run(self, /) -> bool:
        """
        Is it a preview?
        """
    @property
    def kind(self, /) -> str:
        """
        `update`, `refresh`, `destroy` or `import`.
        """
    def log(self, /, urn: str, severity: SupportsIndex, message: str, ephemeral: bool = False) -> None:
        """
        Passes a message on; severities are those of the engine service (0 debug, 1 info, 2 warning, 3 error), and 4
        for printed output.
        """
    @property
    def organization(self, /) -> str:
        """
        The organization's name.
        """
    @property
    def parallel(self, /) -> int:
        """
        Provider operations at a time.
        """
    @property
    def program_directory(self, /) -> str:
        """
        The directory of the program.
        """
    @property
    def project(self, /) -> str:
        """
        The project's name.
        """
    @property
    def project_root(self, /) -> str:
        """
        The directory of Pulumi.yaml.
        """
    def refuse_deletion(self, /, urn: str, reason: str) -> None:
        """
        Keeps a resource from being deleted for the only reason that this run did not register it; the run fails with
        that reason if it would be.
        """
    def rpc(self, /, method: "str", request: "bytes") -> "bytes | tuple[int, str]":
        """
        Sends a request and blocks this thread until it is answered. The answer is bytes, or a gRPC status code with
        a message.
        """
    @property
    def stack(self, /) -> str:
        """
        The stack's short name.
        """
    def when_stopped(self, /, notify: "object") -> None:
        """
        Calls `notify` from another thread once the run cannot go on.
        """

@final
class MemoryState:
    """
    The state of one stack, in memory.
    """
    def __new__(cls, /) -> MemoryState: ...
    def export(self, /) -> str:
        """
        The state as Pulumi's deployment JSON, with secrets in plain text.
        """

@final
class Pool:
    """
    The threads of a run, for those who start them.
    """
    def close(self, /) -> None:
        """
        Lets the workers go once nothing is left to do.
        """
    def work(self, /) -> None:
        """
        Polls the engine's tasks on this thread until the pool is closed.
        """

def cli_main(arguments: "list[str]", front: "object", host: "object") -> "int":
    """
    Runs the command line with these arguments (without the program's name) and returns its exit code.
    """
