"""Deliveries that the service signs."""

from __future__ import annotations

import base64
import json
import time
from datetime import datetime, timezone

import pytest
from standardwebhooks.webhooks import Webhook

from wonrail import errors, webhooks

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
BODY = json.dumps(
    {
        "eventId": "evt_1",
        "type": "payment.created",
        "sequence": 7,
        "objectId": "pay_1",
        "objectSequence": 1,
        "createdAt": "2026-01-14T00:30:00.000Z",
        "data": {"paymentId": "pay_1", "memo": "가나다"},
    },
    ensure_ascii=False,
)


def signed(at: float | None = None, secret: str = SECRET) -> dict[str, str]:
    """Headers of a delivery, signed by the library of Standard Webhooks."""
    moment = datetime.fromtimestamp(int(time.time() if at is None else at), tz=timezone.utc)
    return {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(int(moment.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("evt_1", moment, BODY),
    }


def test_a_signed_delivery_becomes_its_event() -> None:
    for body in (BODY, BODY.encode()):
        event = webhooks.unwrap(body, signed(), SECRET)
        assert (event.type, event.sequence, event.data["paymentId"]) == ("payment.created", 7, "pay_1")


def test_one_of_several_signatures_suffices() -> None:
    headers = signed()
    headers["Webhook-Signature"] = f"v1a,x v1,eA== {headers['Webhook-Signature']}"
    assert webhooks.unwrap(BODY, headers, SECRET).event_id == "evt_1"


def test_another_body_or_secret_is_refused() -> None:
    other = "whsec_" + base64.b64encode(b"x" * 32).decode()
    for body, secret in ((BODY + " ", SECRET), (BODY, other), (BODY, "whsec_!")):
        with pytest.raises(errors.BadAnswerError):
            webhooks.unwrap(body, signed(), secret)


@pytest.mark.parametrize("offset", [-301, 302])
def test_an_old_or_future_timestamp_is_refused(offset: int) -> None:
    with pytest.raises(errors.BadAnswerError, match="five minutes"):
        webhooks.unwrap(BODY, signed(time.time() + offset), SECRET)


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_a_missing_header_is_named(name: str) -> None:
    headers = {key: value for key, value in signed().items() if key != name}
    with pytest.raises(errors.BadAnswerError, match=name.lower()):
        webhooks.unwrap(BODY, headers, SECRET)
