"""Verifies deliveries as Standard Webhooks 1.0 describes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping

from ._decode import decode
from .errors import BadAnswerError
from .models import Event

TOLERANCE_SECONDS = 300


def unwrap(body: bytes | str, headers: Mapping[str, str], secret: str) -> Event:
    """Verifies a delivery and returns its event. Give the body exactly as it arrived.

    Raises BadAnswerError for a wrong signature, and for a timestamp that is more than five minutes
    off.
    """
    raw = body.encode() if isinstance(body, str) else body
    given = {name.lower(): value for name, value in headers.items()}
    message_id = _header(given, "webhook-id")
    timestamp = _header(given, "webhook-timestamp")
    signatures = _header(given, "webhook-signature")
    is_number = re.fullmatch(r"[0-9]{1,12}", timestamp) is not None
    if not is_number or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise _refused("webhook-timestamp is more than five minutes off")
    signed = b".".join((message_id.encode(), timestamp.encode(), raw))
    expected = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    for signature in signatures.split(" "):
        version, _, text = signature.partition(",")
        if version == "v1" and hmac.compare_digest(_decode_base64(text), expected):
            return decode(Event, json.loads(raw))
    raise _refused("no signature of webhook-signature is valid for the secret and the body")


def _key(secret: str) -> bytes:
    key = _decode_base64(secret.removeprefix("whsec_"))
    if key == b"":
        raise _refused("the secret is not whsec_ and base64")
    return key


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "")
    if value == "":
        raise _refused(f"the header {name} is missing")
    return value


def _decode_base64(text: str) -> bytes:
    """Returns no bytes for a malformed text."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _refused(reason: str) -> BadAnswerError:
    return BadAnswerError("SDK_004", f"The delivery does not come from the service: {reason}.")
