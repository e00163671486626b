"""What the objects that the SDK is given ask of the run that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from google.protobuf.message import Message


class Notes(Protocol):
    """Remembers in which module body a resource was made."""

    def note(self, kind: str, name: str, frame: FrameType | None, /) -> None:
        """A resource is made."""


class Variables(Protocol):
    """Remembers the variables that a provider saw when its resource was made."""

    def note(self, provider: Any, type_token: str, name: str, /) -> None:
        """A resource is made."""


class Providers(Protocol):
    """The live provider objects of the run."""

    def captured(self, handle: str, /) -> tuple[Any, ...]:
        """The Outputs that the object of a handle has captured."""


class RunHost(Protocol):
    """The Python half of a run, as far as the SDK's seams know it."""

    callback_names: dict[str, str]

    @property
    def callbacks(self) -> dict[str, Callable[[bytes], Any]]:
        """The program's transforms and hooks by token."""

    @property
    def registry(self) -> Providers:
        """The live provider objects."""

    @property
    def traps(self) -> Variables:
        """The variables that are compared before a call."""

    @property
    def bodies(self) -> Notes | None:
        """Only where modules may run again."""

    @property
    def declared(self) -> Mapping[tuple[str, str], Any]:
        """Classes that declare outputs."""

    def handle(self, provider: Any, /) -> str:
        """The handle of a live provider object."""

    def note_resource(self, resource: type, kind: str, name: str, inputs: frozenset[str], provider: Any, /) -> None:
        """A resource of this class is made."""

    def note_urn(self, request: Message, response: Message, /) -> None:
        """A resource was registered."""

    def look_at_outputs(self, request: Message, response: Message, /) -> None:
        """A resource was answered."""
