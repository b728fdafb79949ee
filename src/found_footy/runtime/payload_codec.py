"""Encrypts Temporal payloads, so that the server and its operators cannot read them."""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
from collections.abc import Iterable, Sequence

from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes, PayloadCodec

from found_footy.errors import EngineError

ENCODING, KEY_ID = "encoding", "footy-key"
ENCRYPTED = b"binary/encrypted"
NONCE_BYTES = 12


def data_converter(keys: Sequence[str]) -> DataConverter:
    """`keys` are hexadecimal; the first one encrypts. Without keys, payloads are readable JSON."""
    if not keys:
        return DataConverter.default
    return dataclasses.replace(
        DataConverter.default,
        payload_codec=EncryptionCodec([bytes.fromhex(each) for each in keys]),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


class EncryptionCodec(PayloadCodec):
    """AES-256-GCM. Unencrypted payloads, from before a key was set, are still read."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        # Imported here because it takes time, and most systems have no key.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._ciphers = {_key_id(key): AESGCM(key) for key in keys}
        self._current = _key_id(keys[0])

    async def encode(self, payloads: Iterable[Payload]) -> list[Payload]:
        return [self._encrypt(payload) for payload in payloads]

    async def decode(self, payloads: Iterable[Payload]) -> list[Payload]:
        """Raises EngineError if the key is unknown or the payload was modified."""
        return [self._decrypt(payload) for payload in payloads]

    def _encrypt(self, payload: Payload) -> Payload:
        nonce = secrets.token_bytes(NONCE_BYTES)
        data = self._ciphers[self._current].encrypt(nonce, payload.SerializeToString(), self._current)
        return Payload(metadata={ENCODING: ENCRYPTED, KEY_ID: self._current}, data=nonce + data)

    def _decrypt(self, payload: Payload) -> Payload:
        if payload.metadata.get(ENCODING) != ENCRYPTED:
            return payload
        from cryptography.exceptions import InvalidTag

        key_id = payload.metadata.get(KEY_ID, b"")
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise EngineError("a Temporal payload was encrypted with a key that is not in FOOTY_TEMPORAL_PAYLOAD_KEYS")
        try:
            content = cipher.decrypt(payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:], key_id)
        except InvalidTag:
            raise EngineError("a Temporal payload was modified after encryption") from None
        return Payload.FromString(content)


def _key_id(key: bytes) -> bytes:
    """Identify a key without revealing it."""
    return hashlib.sha256(b"key id" + key).hexdigest()[:16].encode()
