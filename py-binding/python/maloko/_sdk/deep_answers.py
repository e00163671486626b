"""Answers with values that are nested more deeply than protobuf's own library reads.

It counts three messages for an object in an object, and reads no more than a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError

if TYPE_CHECKING:
    from google.protobuf.message import Message

_STRUCT = "google.protobuf.Struct"
_OBJECT, _LIST = 5, 6
"""The fields of a value that hold others."""


def decoded(kind: type[Message], data: bytes) -> Any:
    """The message of this kind, however deep its values are."""
    try:
        return kind.FromString(data)
    except DecodeError:
        # Nothing but its depth can be wrong with what the engine writes.
        return _deep(kind, data)


def _deep(kind: type[Message], data: bytes) -> Message:
    message, rest = kind(), b""
    for number, content, whole in _fields(memoryview(data)):
        field = kind.DESCRIPTOR.fields_by_number.get(number)
        if field is not None and field.message_type is not None and field.message_type.full_name == _STRUCT:
            _fill_struct(getattr(message, field.name), content)
        else:
            rest += whole
    message.MergeFromString(rest)
    return message


def _fill_struct(struct: Any, data: memoryview) -> None:
    struct.SetInParent()
    for _, member, _ in _fields(data):
        parts = {number: content for number, content, _ in _fields(member)}
        _fill_value(struct.fields[str(parts.get(1, b""), "utf-8")], parts.get(2, memoryview(b"")))


def _fill_value(value: Any, data: memoryview) -> None:
    for number, content, whole in _fields(data):
        if number == _OBJECT:
            _fill_struct(value.struct_value, content)
        elif number == _LIST:
            value.list_value.SetInParent()
            for _, item, _ in _fields(content):
                _fill_value(value.list_value.values.add(), item)
        else:
            value.MergeFromString(bytes(whole))


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """The fields of a message: number, content and the field as a whole."""
    place = 0
    while place < len(data):
        start = place
        key, place = _varint(data, place)
        kind = key & 7
        if kind == 0:
            _, end = _varint(data, place)
        elif kind == 2:
            size, place = _varint(data, place)
            end = place + size
        else:
            end = place + (8 if kind == 1 else 4)
        yield key >> 3, data[place:end], data[start:end]
        place = end


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    """The number at a place, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
