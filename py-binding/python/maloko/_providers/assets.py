"""Assets and archives as provider methods see them: the SDK's own classes, with the hash that the engine computed.

The SDK's objects are equal to nothing but themselves. A provider that compares `olds["body"]` with `news["body"]` means
the contents, and these objects compare those.
"""

from __future__ import annotations

from typing import Any

import pulumi


class _HashEquality:
    hash: str

    def __eq__(self, other: object) -> bool:
        theirs = getattr(other, "hash", None)
        kinds = (pulumi.Asset, pulumi.Archive)
        if not isinstance(theirs, str) or not isinstance(other, kinds):
            return NotImplemented
        return self.hash == theirs and all(isinstance(self, kind) == isinstance(other, kind) for kind in kinds)

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if name != "hash"}
        content = ", ".join(repr(value) for value in shown.values()) or f"hash={self.hash!r}"
        return f"{type(self).__mro__[2].__name__}({content})"


class _Asset(_HashEquality, pulumi.Asset):
    pass


class _StringAsset(_HashEquality, pulumi.StringAsset):
    pass


class _FileAsset(_HashEquality, pulumi.FileAsset):
    pass


class _RemoteAsset(_HashEquality, pulumi.RemoteAsset):
    pass


class _Archive(_HashEquality, pulumi.Archive):
    pass


class _AssetArchive(_HashEquality, pulumi.AssetArchive):
    pass


class _FileArchive(_HashEquality, pulumi.FileArchive):
    pass


class _RemoteArchive(_HashEquality, pulumi.RemoteArchive):
    pass


_CLASSES: dict[str, Any] = {
    "asset": _Asset,
    "asset.text": _StringAsset,
    "asset.path": _FileAsset,
    "asset.uri": _RemoteAsset,
    "archive": _Archive,
    "archive.assets": _AssetArchive,
    "archive.path": _FileArchive,
    "archive.uri": _RemoteArchive,
}


def make(kind: str, content: Any, content_hash: str) -> Any:
    """An asset or archive for a provider method; `content` is `None` when nothing but the hash is known."""
    made = _CLASSES[kind]() if content is None else _CLASSES[kind](content)
    made.hash = content_hash
    return made
