"""Retries, idempotency keys and errors."""

from __future__ import annotations

import socket

import httpx
import pytest
from conftest import Answer, Service

from wonrail import Client, errors

CHARGE = {"chargeId": "chg_1", "amount": 50_000}


def test_a_money_call_is_retried_with_the_same_key_and_request_id(service: Service) -> None:
    service.break_connection()
    service.refuse(503, "SYS_002")
    service.succeed(CHARGE, 201)
    charge = service.client().charges.create(wallet_id="wal_1", amount=50_000)
    assert charge.charge_id == "chg_1"
    assert len(service.asked) == 3
    for header in ("idempotency-key", "x-request-id"):
        assert len({asked.headers[header] for asked in service.asked}) == 1


def test_each_call_has_a_new_key_and_the_callers_key_wins(service: Service) -> None:
    for _ in range(3):
        service.succeed(CHARGE, 201)
    charges = service.client().charges
    charges.create(wallet_id="wal_1", amount=50_000)
    charges.create(wallet_id="wal_1", amount=50_000)
    charges.create(wallet_id="wal_1", amount=50_000, idempotency_key="order-7")
    keys = [asked.headers["idempotency-key"] for asked in service.asked]
    assert keys[0] != keys[1] and keys[2] == "order-7"


def test_a_call_without_a_key_is_not_repeated_when_it_may_have_been_executed(service: Service) -> None:
    service.break_connection()
    with pytest.raises(errors.ConnectionFailedError) as raised:
        service.client().webhooks.delete("whk_1")
    assert (raised.value.outcome_unknown, len(service.asked)) == (True, 1)


def test_a_call_without_a_key_is_repeated_when_it_was_not_executed(service: Service) -> None:
    service.refuse(503, "SYS_002")
    service.succeed({"deleted": True})
    assert service.client().webhooks.delete("whk_1").deleted is True


def test_a_refused_connection_leaves_no_unknown_outcome() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    client = Client(base_url=f"http://127.0.0.1:{port}", api_key="k", max_retries=0)
    with pytest.raises(errors.ConnectionFailedError, match="was not sent") as raised:
        client.charges.create(wallet_id="wal_1", amount=50_000, idempotency_key="order-7")
    error = raised.value
    assert (error.code, error.outcome_unknown, error.idempotency_key) == ("SDK_001", False, "order-7")


def test_a_broken_connection_leaves_the_outcome_unknown(service: Service) -> None:
    service.break_connection()
    with pytest.raises(errors.ConnectionFailedError, match="got no answer") as raised:
        service.client(max_retries=0).charges.create(wallet_id="wal_1", amount=50_000)
    assert raised.value.outcome_unknown is True


def test_a_read_without_an_answer_has_no_unknown_outcome(service: Service) -> None:
    service.break_connection()
    with pytest.raises(errors.ConnectionFailedError) as raised:
        service.client(max_retries=0).wallets.get("wal_1")
    assert raised.value.outcome_unknown is False


def test_a_slow_answer_is_a_timeout() -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("timed out", request=request)

    http = httpx.Client(transport=httpx.MockTransport(slow))
    client = Client(base_url="https://service", api_key="k", http=http, max_retries=0)
    with pytest.raises(errors.ConnectionTimeoutError) as raised:
        client.charges.create(wallet_id="wal_1", amount=50_000)
    assert (raised.value.code, raised.value.outcome_unknown) == ("SDK_002", True)


def test_an_open_outcome_is_not_hidden_by_a_later_refusal(service: Service) -> None:
    service.break_connection()
    service.refuse(503, "SYS_002")
    with pytest.raises(errors.OutcomeUnknownError) as raised:
        service.client(max_retries=1).charges.create(wallet_id="wal_1", amount=50_000)
    assert (raised.value.code, raised.value.outcome_unknown) == ("SYS_003", True)
    assert isinstance(raised.value.__cause__, errors.UnavailableError)


def test_a_long_retry_after_ends_the_call(service: Service) -> None:
    service.refuse(429, "RATE_001", headers={"Retry-After": "61"})
    with pytest.raises(errors.RateLimitError) as raised:
        service.client().wallets.get("wal_1")
    assert (raised.value.retry_after_seconds, len(service.asked)) == (61, 1)


def test_the_page_of_a_proxy_is_no_refusal(service: Service) -> None:
    service.answers.append(Answer(403, "<html>", {"Content-Type": "text/html"}))
    with pytest.raises(errors.OutcomeUnknownError) as raised:
        service.client().charges.create(wallet_id="wal_1", amount=50_000)
    assert isinstance(raised.value.__cause__, errors.BadAnswerError)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "WAUTH_001", errors.AuthenticationError),
        (403, "WAUTH_004", errors.PermissionDeniedError),
        (404, "PAY_004", errors.NotFoundError),
        (409, "TX_002", errors.ConflictError),
        (400, "REQ_001", errors.InvalidRequestError),
        (400, "PAY_001", errors.RefusedError),
        (500, "SYS_001", errors.ServerError),
        (422, "NEW_001", errors.InvalidRequestError),
        (504, "NEW_002", errors.OutcomeUnknownError),
    ],
)
def test_a_refusal_has_the_class_of_its_code(
    service: Service, status: int, code: str, kind: type[errors.ServiceError]
) -> None:
    service.refuse(status, code)
    with pytest.raises(errors.ServiceError) as raised:
        service.client(max_retries=0).charges.create(wallet_id="wal_1", amount=50_000)
    assert type(raised.value) is kind
    assert (raised.value.code, raised.value.status) == (code, status)


def test_the_text_of_an_error_shows_code_message_fields_and_request_id(service: Service) -> None:
    fields = [{"path": "amount", "message": "must be at least 1000"}]
    service.refuse(400, "REQ_001", {"fields": fields}, {"Idempotent-Replayed": "true"})
    with pytest.raises(errors.InvalidRequestError) as raised:
        service.client().charges.create(wallet_id="wal_1", amount=1)
    assert str(raised.value) == "REQ_001: No. amount must be at least 1000. (request_id req_1)"
    assert raised.value.replayed is True
