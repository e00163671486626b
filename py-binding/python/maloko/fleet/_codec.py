"""How payloads travel to the server: large ones compressed, all of them encrypted where the fleet has a key.

`node-binding/ts/fleet/codec.ts` writes and reads the same bytes.
"""

from __future__ import annotations

import base64
import binascii
import os
import zlib
from collections.abc import Iterable

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    DefaultPayloadConverter,
    PayloadCodec,
)

from maloko.fleet._ends import FleetError, UnreadableError

VARIABLE = "MALOKO_FLEET_KEY"
"""Holds the key: 32 bytes in base64, the same for all workers and commands of a fleet."""

_ENCODING = "encoding"
_COMPRESSED = b"binary/maloko-zlib"
_ENCRYPTED = b"binary/maloko-aes256gcm"
_SMALL = 1024
"""Bytes up to which a payload stays as it is, so that the server's page shows it."""
_KEY_SIZE = 32
_NONCE_SIZE = 12


class FleetCodec(PayloadCodec):
    """Compresses what is large and, with a key, encrypts everything."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key

    async def encode(self, payloads: Iterable[Payload]) -> list[Payload]:
        return [self._encoded(payload) for payload in payloads]

    async def decode(self, payloads: Iterable[Payload]) -> list[Payload]:
        return [self._decoded(payload) for payload in payloads]

    def _encoded(self, payload: Payload) -> Payload:
        if payload.ByteSize() > _SMALL:
            data = zlib.compress(payload.SerializeToString())
            payload = Payload(metadata={_ENCODING: _COMPRESSED}, data=data)
        if self._key is None:
            return payload
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(_NONCE_SIZE)
        data = nonce + AESGCM(self._key).encrypt(nonce, payload.SerializeToString(), None)
        return Payload(metadata={_ENCODING: _ENCRYPTED}, data=data)

    def _decoded(self, payload: Payload) -> Payload:
        if payload.metadata.get(_ENCODING) == _ENCRYPTED:
            payload = Payload.FromString(self._opened(payload.data))
        if payload.metadata.get(_ENCODING) == _COMPRESSED:
            payload = Payload.FromString(zlib.decompress(payload.data))
        return payload

    def _opened(self, data: bytes) -> bytes:
        if self._key is None:
            raise UnreadableError(f", and {VARIABLE} is not set: set it to the key that the run was begun with")
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(self._key).decrypt(data[:_NONCE_SIZE], data[_NONCE_SIZE:], None)
        except InvalidTag:
            raise UnreadableError(
                f" with another key than that in {VARIABLE}: set it to the key that the run was begun with"
            ) from None


def fleet_key() -> bytes | None:
    """The key of the environment; `None` where there is none.

    :raises FleetError: when it is no key
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _KEY_SIZE:
        raise FleetError(
            f"{VARIABLE} is no key: it has to be {_KEY_SIZE} bytes in base64, such as `openssl rand -base64 32` writes"
        )
    return key


def data_converter() -> DataConverter:
    """What clients and workers of fleets convert with."""
    key = fleet_key()
    if key is None:
        return DataConverter(payload_converter_class=DefaultPayloadConverter, payload_codec=FleetCodec(None))
    return DataConverter(
        payload_converter_class=DefaultPayloadConverter,
        payload_codec=FleetCodec(key),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )
