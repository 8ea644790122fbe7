"""Requests that the client sends, and the objects that it makes of answers."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from io import BytesIO

import pytest
from conftest import Answer, Service

from wonrail import Client, errors, models

PAYMENT = {
    "paymentId": "pay_1",
    "status": "CANCELLED",
    "amount": 12_000,
    "breakdown": {"government": 0, "incentive": 0, "normal": 12_000},
    "settlement": {"status": "CONFIRMED", "network": "WON_TESTNET", "txHash": "0x4e", "blockNumber": 9},
    "cancellation": {"cancelId": "pcl_1", "restored": {"incentive": 0, "normal": 12_000}},
    "createdAt": "2026-01-14T00:30:00.000Z",
    "addedLater": {"by": "a newer service"},
}


def test_an_answer_becomes_typed_objects_without_unknown_fields(service: Service) -> None:
    service.succeed(PAYMENT, 201)
    payment = service.client().payments.create(
        payer_wallet_id="wal_1", receiver_wallet_id="wal_2", amount=12_000, incentive_amount=None
    )
    assert isinstance(payment, models.Payment)
    assert payment.breakdown.normal == 12_000
    assert payment.settlement.tx_hash == "0x4e"
    assert payment.cancellation is not None and payment.cancellation.restored.normal == 12_000
    assert payment.created_at == datetime(2026, 1, 14, 0, 30, tzinfo=timezone.utc)
    assert not hasattr(payment, "added_later")


def test_a_request_has_json_names_and_leaves_out_what_the_caller_leaves_out(service: Service) -> None:
    service.succeed(PAYMENT, 201)
    service.client(org_code="DEMO").payments.create(
        payer_wallet_id="wal_1",
        receiver_wallet_id="wal_2",
        amount=12_000,
        incentive_amount=None,
        metadata={"till": "3"},
    )
    [asked] = service.asked
    assert (asked.method, asked.path) == ("POST", "/api/wallets/payment")
    assert asked.body == {
        "payerWalletId": "wal_1",
        "receiverWalletId": "wal_2",
        "amount": 12_000,
        "incentiveAmount": None,
        "metadata": {"till": "3"},
    }
    assert asked.headers["x-api-key"] == "wk_test_1"
    assert asked.headers["x-org-code"] == "DEMO"
    assert asked.headers["wonrail-version"] == "2026-01-01"
    assert len(asked.headers["idempotency-key"]) == 36


def test_a_query_has_times_in_utc_and_lists_with_commas(service: Service) -> None:
    service.succeed({"items": [], "pagination": {}})
    seoul = timezone(timedelta(hours=9))
    service.client().transfers.list(from_=datetime(2026, 1, 14, 9, tzinfo=seoul), min_amount=5)
    assert service.asked[0].path == "/api/wallets/transfer?minAmount=5&from=2026-01-14T00%3A00%3A00.000Z"


def test_iterating_over_a_list_reads_all_pages_by_cursor(service: Service) -> None:
    for wallet_id, cursor in (("a", "c1"), ("b", "c2"), ("c", None)):
        pagination = {"limit": 1, "hasNext": cursor is not None, "nextCursor": cursor}
        service.succeed({"items": [{"walletId": wallet_id}], "pagination": pagination})
    page = service.client().wallets.list(limit=1, current_page=1)
    assert [wallet.wallet_id for wallet in page] == ["a", "b", "c"]
    assert [asked.path for asked in service.asked] == [
        "/api/wallets?limit=1&currentPage=1",
        "/api/wallets?limit=1&cursor=c1",
        "/api/wallets?limit=1&cursor=c2",
    ]


def test_the_stream_of_events_goes_on_behind_the_last_page(service: Service) -> None:
    for sequence in (7, 8):
        pagination = {"limit": 100, "hasNext": False, "nextAfter": str(sequence)}
        service.succeed({"items": [{"eventId": "evt", "sequence": sequence}], "pagination": pagination})
    stream = service.client().events.stream(types=["payment.created", "payment.cancelled"])
    assert [next(stream).sequence, next(stream).sequence] == [7, 8]
    assert "types=payment.created%2Cpayment.cancelled" in service.asked[0].path
    assert "after=7" in service.asked[1].path and "wait=20" in service.asked[1].path


def test_a_call_without_a_key_sends_no_key(service: Service) -> None:
    service.succeed({"status": "ok"})
    assert service.client().service.check_health().status == "ok"
    assert "x-api-key" not in service.asked[0].headers


@pytest.mark.parametrize("wallet_id", ["", ".", ".."])
def test_an_id_that_leads_to_another_path_is_refused(service: Service, wallet_id: str) -> None:
    with pytest.raises(errors.InvalidRequestError, match="wallet_?[iI]d must be an id"):
        service.client().wallets.get(wallet_id)
    assert service.asked == []


def test_an_id_is_encoded(service: Service) -> None:
    service.refuse(404, "WAL_002")
    with pytest.raises(errors.NotFoundError):
        service.client().wallets.get("a/b?c")
    assert service.asked[0].path == "/api/wallets/a%2Fb%3Fc"


def test_none_as_a_filter_is_refused_because_it_would_list_more(service: Service) -> None:
    with pytest.raises(errors.InvalidRequestError, match="walletId is None: leave it out"):
        service.client().payments.list(wallet_id=None)  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidRequestError, match="Idempotency-Key"):
        service.client().wallets.deactivate("wal_1", idempotency_key=None)  # type: ignore[arg-type]
    assert service.asked == []


def test_a_time_without_a_zone_is_refused(service: Service) -> None:
    with pytest.raises(errors.InvalidRequestError, match="time zone"):
        service.client().charges.list(from_=datetime(2026, 1, 14))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "http://example.com", "api_key": "k"}, "must be https"),
        ({"base_url": "example.com", "api_key": "k"}, "must start with https"),
        ({"base_url": "https://example.com"}, "api_key is missing"),
        ({"api_key": "k"}, "base_url is missing"),
    ],
)
def test_a_wrong_option_is_refused(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, str], message: str
) -> None:
    monkeypatch.delenv("WONRAIL_API_KEY", raising=False)
    monkeypatch.delenv("WONRAIL_BASE_URL", raising=False)
    with pytest.raises(errors.ConfigurationError, match=message):
        Client(**options)  # type: ignore[arg-type]


def test_the_client_does_not_show_its_key(service: Service) -> None:
    assert "wk_test_1" not in repr(service.client())


def test_a_report_is_written_into_a_file(service: Service) -> None:
    service.answers.append(Answer(503, "", {"Retry-After": "0"}))
    service.answers.append(Answer(200, "<Document/>"))
    file = BytesIO()
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)
    service.client().reports.download_statements(file, from_=start, format="camt053")
    assert file.getvalue() == b"<Document/>"
    path = "/api/reports/statements?from=2026-01-01T00%3A00%3A00.000Z&format=camt053"
    assert [asked.path for asked in service.asked] == [path, path]


def test_a_report_that_is_cut_raises_and_is_not_repeated(service: Service) -> None:
    service.answers.append(Answer(200, "END", promised_bytes=1_000))
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)
    with pytest.raises(errors.ServiceError, match="not complete") as raised:
        service.client().reports.download_settlements(BytesIO(), from_=start)
    assert (raised.value.code, len(service.asked)) == ("SDK_001", 1)


def test_a_refused_report_writes_nothing(service: Service) -> None:
    service.refuse(404, "WAL_002")
    file = BytesIO()
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)
    with pytest.raises(errors.ServiceError) as raised:
        service.client().reports.download_statements(file, from_=start, format="csv", wallet_id="wal_1")
    assert (raised.value.code, file.getvalue()) == ("WAL_002", b"")
