# Generated from gateway/openapi.json by `npm run docs`; do not edit.
"""Objects of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class RefreshedKey:
    """The data of RefreshedKey."""

    new_api_key: str
    """The new API key. Store it: it is not shown again."""
    expires_at: datetime
    """When the new key expires."""


@dataclass(frozen=True, kw_only=True)
class RevokedKey:
    """The data of RevokedKey."""

    revoked: bool
    """Always true."""
    revoked_at: datetime
    """When the key was revoked."""


Scope = Literal["wallets:read", "wallets:write", "transfers:read", "transfers:write", "charges:read", "charges:write", "payments:read", "payments:write", "transactions:read", "transactions:write", "events:read", "webhooks:read", "webhooks:write", "x402:read", "x402:write", "keys:manage", "sandbox:write"]
"""A right of an API key. The description of each operation names the scope that it needs. A later
release can add scopes.
"""


@dataclass(frozen=True, kw_only=True)
class SessionOrganisation:
    """The organisation of the key."""

    org_id: str
    """The organisation's id."""
    org_code: str
    """The code for the header X-Org-Code."""
    name: str
    """The organisation's name."""
    status: Literal["ACTIVE", "SUSPENDED"]
    """A SUSPENDED organisation is refused everything but its session."""
    incentive_rate_bps: int
    """The incentive granted on the NORMAL part of a payment, in basis points: 250 is 2.5 %."""
    daily_transfer_limit: int
    """How much a wallet may transfer in a day of Asia/Seoul, in KRW."""


@dataclass(frozen=True, kw_only=True)
class SessionKey:
    """The API key of this request."""

    key_id: str
    """The key's id."""
    prefix: str
    """The public part of the key, for lists and logs."""
    name: str
    """What the key is for, in your words."""
    scopes: list[Scope]
    """What the key may do."""
    allowed_addresses: list[str]
    """Addresses and CIDR ranges from which the key may be used. Empty: any address."""
    api_version: str
    """The version of this API that requests without the header Wonrail-Version get."""
    status: Literal["CURRENT", "OVERLAP", "EXPIRED", "REVOKED"]
    """CURRENT: works. OVERLAP: was refreshed and works until `overlapEndsAt`. EXPIRED: can only be
    refreshed. REVOKED: never works again.
    """
    predecessor_id: str | None
    """The id of the key that a refresh replaced by this one; null for another key."""
    issued_at: datetime
    """When the key was issued."""
    expires_at: datetime
    """When the key expires."""
    overlap_ends_at: datetime | None
    """When a refreshed key stops working; null when it was not refreshed."""
    revoked_at: datetime | None
    """When the key was revoked; null when it was not."""


@dataclass(frozen=True, kw_only=True)
class SessionSubscription:
    """The subscription of the organisation."""

    active: bool
    """Whether the subscription is active now."""
    starts_at: datetime
    """When the subscription starts."""
    ends_at: datetime
    """When the subscription ends."""


@dataclass(frozen=True, kw_only=True)
class SessionRateLimit:
    """The rate at which requests are accepted."""

    per_second: int
    """Requests that are accepted per second in the long run."""
    burst: int
    """Requests that are accepted at once."""


@dataclass(frozen=True, kw_only=True)
class SessionUsage:
    """The data of SessionUsage."""

    quota: Literal["WALLETS", "MONEY_OPERATIONS", "RECORDED_TRANSACTIONS"]
    """What is counted."""
    limit: int
    """How many the plan allows in the period."""
    used: int
    """How many were used in the period."""
    reserved: int
    """How many are reserved for requests that arrive now."""
    resets_at: datetime | None
    """When the period ends and the count restarts; null: never."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """The data of Session."""

    organisation: SessionOrganisation
    """The organisation of the key."""
    key: SessionKey
    """The API key of this request."""
    plan: Literal["FREE", "STANDARD", "ENTERPRISE"]
    """The organisation's plan."""
    subscription: SessionSubscription
    """The subscription of the organisation."""
    rate_limit: SessionRateLimit
    """The rate at which requests are accepted."""
    usage: list[SessionUsage]
    """What was used of the plan in this period."""


@dataclass(frozen=True, kw_only=True)
class IssuedKey:
    """The data of IssuedKey."""

    key_id: str
    """The key's id."""
    prefix: str
    """The public part of the key, for lists and logs."""
    name: str
    """What the key is for, in your words."""
    scopes: list[Scope]
    """What the key may do."""
    allowed_addresses: list[str]
    """Addresses and CIDR ranges from which the key may be used. Empty: any address."""
    api_version: str
    """The version of this API that requests without the header Wonrail-Version get."""
    status: Literal["CURRENT", "OVERLAP", "EXPIRED", "REVOKED"]
    """CURRENT: works. OVERLAP: was refreshed and works until `overlapEndsAt`. EXPIRED: can only be
    refreshed. REVOKED: never works again.
    """
    predecessor_id: str | None
    """The id of the key that a refresh replaced by this one; null for another key."""
    issued_at: datetime
    """When the key was issued."""
    expires_at: datetime
    """When the key expires."""
    overlap_ends_at: datetime | None
    """When a refreshed key stops working; null when it was not refreshed."""
    revoked_at: datetime | None
    """When the key was revoked; null when it was not."""
    api_key: str | None
    """The key itself. Store it: it is not shown again. null in the answer to a repetition."""


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """An API key, without its secret part."""

    key_id: str
    """The key's id."""
    prefix: str
    """The public part of the key, for lists and logs."""
    name: str
    """What the key is for, in your words."""
    scopes: list[Scope]
    """What the key may do."""
    allowed_addresses: list[str]
    """Addresses and CIDR ranges from which the key may be used. Empty: any address."""
    api_version: str
    """The version of this API that requests without the header Wonrail-Version get."""
    status: Literal["CURRENT", "OVERLAP", "EXPIRED", "REVOKED"]
    """CURRENT: works. OVERLAP: was refreshed and works until `overlapEndsAt`. EXPIRED: can only be
    refreshed. REVOKED: never works again.
    """
    predecessor_id: str | None
    """The id of the key that a refresh replaced by this one; null for another key."""
    issued_at: datetime
    """When the key was issued."""
    expires_at: datetime
    """When the key expires."""
    overlap_ends_at: datetime | None
    """When a refreshed key stops working; null when it was not refreshed."""
    revoked_at: datetime | None
    """When the key was revoked; null when it was not."""
    last_used_at: datetime | None
    """About when the key was last used, some seconds late; null: never."""


@dataclass(frozen=True, kw_only=True)
class Pagination:
    """The data of Pagination."""

    limit: int
    """How many items a page has."""
    current_page: int | None
    """The page; null when a cursor was given."""
    has_next: bool
    """Whether there is another page. With filters a page can have fewer items than `limit`, or
    none, and another one all the same: the service reads at most 10,000 objects for a page.
    """
    next_cursor: str | None
    """The cursor of the next page; null on the last."""
    total_count: int | None
    """The number of all items; null when it is not known, as beyond 10,000."""


@dataclass(frozen=True, kw_only=True)
class ApiKeyPage:
    """The data of ApiKeyPage."""

    items: list[ApiKey]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class DeletedKey:
    """The data of DeletedKey."""

    key_id: str
    """The key's id."""
    revoked: bool
    """Always true."""
    revoked_at: datetime
    """When the key was revoked."""
    revoked_key_ids: list[str]
    """The keys that are revoked now: this one, then its successors if wanted."""


@dataclass(frozen=True, kw_only=True)
class RotatedSecretKey:
    """The data of RotatedSecretKey."""

    secret_key: str | None
    """The new secret key. Store it: it is not shown again. null in the answer to a repetition."""
    rotated_at: datetime
    """When the old secret key stopped working."""


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """

    status: Literal["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"]
    """PENDING: not sent to the chain. SUBMITTED: sent. CONFIRMED: in a final block. FAILED: will
    not be settled.
    """
    network: str
    """The network of this service."""
    tx_hash: str | None
    """The hash of the chain transaction; null before there is one."""
    block_number: int | None
    """The block of the transaction; null before it is in one."""


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """A transfer from a NORMAL wallet to an address."""

    transfer_id: str
    """The transfer's id."""
    status: Literal["PENDING", "COMPLETED", "FAILED"]
    """COMPLETED at once between two of your wallets. To an outside address PENDING until its block
    is final, then COMPLETED or FAILED. `settlement` can be CONFIRMED a moment earlier.
    """
    from_wallet_id: str
    """The sending wallet."""
    to_wallet_address: str
    """The destination address."""
    to_wallet_id: str | None
    """The id of the destination when it is one of your wallets; otherwise null."""
    amount: int
    """The amount of the transfer, in KRW."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    failure_reason: str | None
    """The reason when the status is FAILED, such as `expired`, `signer_out_of_gas` or the name of
    a contract error. For people and for support; otherwise null.
    """
    created_at: datetime
    """When the transfer was requested."""


@dataclass(frozen=True, kw_only=True)
class TransferPage:
    """The data of TransferPage."""

    items: list[Transfer]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class Payout:
    """Many transfers of one wallet, as one request."""

    payout_id: str
    """The payout's id."""
    status: Literal["PENDING", "COMPLETED", "REFUSED"]
    """PENDING until each row has its outcome, then COMPLETED. REFUSED: the payout is ATOMIC and a
    row was refused, so nothing moved.
    """
    mode: Literal["ATOMIC", "BEST_EFFORT"]
    """The mode of the request."""
    dry_run: bool
    """Whether the payout only tells what would happen."""
    from_wallet_id: str
    """The sending wallet."""
    total_amount: int
    """The sum of all rows, in KRW."""
    accepted_amount: int
    """The sum of the ACCEPTED rows, in KRW."""
    row_count: int
    """How many rows there are."""
    accepted_count: int
    """How many rows are ACCEPTED."""
    refused_count: int
    """How many rows are REFUSED."""
    skipped_count: int
    """How many rows are SKIPPED."""
    created_at: datetime
    """When the payout was requested."""
    completed_at: datetime | None
    """When the last row got its outcome; null while the payout is PENDING."""


@dataclass(frozen=True, kw_only=True)
class PayoutPage:
    """The data of PayoutPage."""

    items: list[Payout]
    """The items of this page."""
    pagination: Pagination


ErrorCode = Literal["WAUTH_001", "WAUTH_002", "WAUTH_003", "WAUTH_004", "WAUTH_005", "WAUTH_006", "WAUTH_007", "WAUTH_008", "WAL_001", "WAL_002", "WAL_003", "WAL_004", "WAL_005", "TRF_001", "TRF_002", "TRF_003", "TRF_004", "TRF_005", "CHG_001", "CHG_002", "CHG_003", "CHG_004", "CHG_005", "CHG_006", "CHG_007", "CHG_008", "PAY_001", "PAY_002", "PAY_003", "PAY_004", "PAY_005", "PAY_006", "PAY_007", "PAY_008", "PAY_009", "PYO_001", "TX_001", "TX_002", "TX_003", "TX_004", "EVT_001", "EVT_002", "WHK_001", "WHK_002", "WHK_003", "SBX_001", "SBX_002", "SBX_003", "REQ_001", "REQ_002", "REQ_003", "REQ_004", "REQ_005", "REQ_006", "REQ_007", "REQ_008", "SIG_001", "RATE_001", "SYS_001", "SYS_002", "SYS_003", "SYS_004"]
"""The codes of this release. A later release can add codes: handle unknown ones by their status."""


@dataclass(frozen=True, kw_only=True)
class PayoutRowError:
    """Why the row is REFUSED, with the codes of a transfer; otherwise null."""

    code: ErrorCode
    """The codes of this release. A later release can add codes: handle unknown ones by their
    status.
    """
    message: str
    """The cause and the remedy, for people. One text for each code."""
    details: dict[str, Any] | None
    """The data of the error, such as fields, ids, amounts or a reason."""


@dataclass(frozen=True, kw_only=True)
class PayoutRow:
    """One transfer of a payout."""

    index: int
    """The place of the row in the request, from 0."""
    status: Literal["PENDING", "ACCEPTED", "REFUSED", "SKIPPED"]
    """ACCEPTED: the transfer was made, or would be in a dry run. REFUSED: `error` tells why.
    SKIPPED: the payout is ATOMIC and another row was refused.
    """
    to_wallet_address: str
    """The destination address."""
    amount: int
    """The amount of the row, in KRW."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    idempotency_key: str | None
    """The row's own key; null without one."""
    transfer_id: str | None
    """The transfer of an ACCEPTED row, otherwise null. When the row's own key was used before, it
    is the earlier transfer.
    """
    error: PayoutRowError | None
    """Why the row is REFUSED, with the codes of a transfer; otherwise null."""


@dataclass(frozen=True, kw_only=True)
class PayoutRowPage:
    """The data of PayoutRowPage."""

    items: list[PayoutRow]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class Charge:
    """A charge (top-up). `settlement` is that of the charge itself, also after it was cancelled:
    each cancellation has its own.
    """

    charge_id: str
    """The charge's id."""
    status: Literal["CHARGED", "PARTIALLY_CANCELLED", "CANCELLED"]
    """CANCELLED when no part remains."""
    wallet_id: str
    """The charged wallet."""
    amount: int
    """The amount of the charge, in KRW."""
    cancelled_amount: int
    """The part of the amount that is cancelled, in KRW."""
    balance: int
    """The wallet's balance after this call. A later read shows the balance after the newest
    cancellation, in KRW.
    """
    cancellable_until: datetime
    """The end of the 30 days in which the charge can be cancelled."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    created_at: datetime
    """When the charge was made."""


@dataclass(frozen=True, kw_only=True)
class ChargePage:
    """The data of ChargePage."""

    items: list[Charge]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class ChargeCancellation:
    """The cancellation of a charge or a part of it. Its `settlement` is that of the returned
    money, PENDING at first: read the charge again to follow it.
    """

    cancel_id: str
    """The cancellation's id."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    amount: int
    """The part of the charge that was taken back, in KRW."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    created_at: datetime
    """When the cancellation was made."""


@dataclass(frozen=True, kw_only=True)
class CancelledCharge:
    """The data of CancelledCharge."""

    charge_id: str
    """The charge's id."""
    status: Literal["CHARGED", "PARTIALLY_CANCELLED", "CANCELLED"]
    """CANCELLED when no part remains."""
    wallet_id: str
    """The charged wallet."""
    amount: int
    """The amount of the charge, in KRW."""
    cancelled_amount: int
    """The part of the amount that is cancelled, in KRW."""
    balance: int
    """The wallet's balance after this call. A later read shows the balance after the newest
    cancellation, in KRW.
    """
    cancellable_until: datetime
    """The end of the 30 days in which the charge can be cancelled."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    created_at: datetime
    """When the charge was made."""
    cancel_id: str
    """This cancellation's id."""
    cancellation: ChargeCancellation
    """The cancellation of a charge or a part of it. Its `settlement` is that of the returned
    money, PENDING at first: read the charge again to follow it.
    """


@dataclass(frozen=True, kw_only=True)
class Refund:
    """A refund (cash-out) of a NORMAL or GOVERNMENT wallet."""

    refund_id: str
    """The refund's id."""
    wallet_id: str
    """The refunded wallet."""
    amount: int
    """The available balance that was paid out, in KRW."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    created_at: datetime
    """When the refund was made."""


@dataclass(frozen=True, kw_only=True)
class RefundPage:
    """The data of RefundPage."""

    items: list[Refund]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class ChargeWithCancellations:
    """A charge with its cancellations. Each cancellation has a settlement of its own."""

    charge_id: str
    """The charge's id."""
    status: Literal["CHARGED", "PARTIALLY_CANCELLED", "CANCELLED"]
    """CANCELLED when no part remains."""
    wallet_id: str
    """The charged wallet."""
    amount: int
    """The amount of the charge, in KRW."""
    cancelled_amount: int
    """The part of the amount that is cancelled, in KRW."""
    balance: int
    """The wallet's balance after this call. A later read shows the balance after the newest
    cancellation, in KRW.
    """
    cancellable_until: datetime
    """The end of the 30 days in which the charge can be cancelled."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    created_at: datetime
    """When the charge was made."""
    cancellations: list[ChargeCancellation]
    """The cancellations of the charge, oldest first. Of more than 100 only the newest; the
    wallet's transactions of type CHARGE_CANCEL have all.
    """


@dataclass(frozen=True, kw_only=True)
class RestoredAmounts:
    """The data of RestoredAmounts."""

    incentive: int
    """KRW returned to the INCENTIVE wallet."""
    normal: int
    """KRW returned to the NORMAL wallet."""


@dataclass(frozen=True, kw_only=True)
class PaymentBreakdown:
    """The parts that the payer's wallets paid."""

    government: int
    """Paid from the GOVERNMENT wallet, in KRW."""
    incentive: int
    """Paid from the INCENTIVE wallet, in KRW."""
    normal: int
    """Paid from the NORMAL wallet, in KRW."""


@dataclass(frozen=True, kw_only=True)
class Payment:
    """A payment. `settlement` is that of the payment itself, also after money was returned; the
    cancellation and each refund have their own.
    """

    payment_id: str
    """The payment's id."""
    status: Literal["PAID", "PARTIALLY_REFUNDED", "REFUNDED", "CANCELLED"]
    """REFUNDED when refunds returned the whole amount. CANCELLED when it was cancelled at once."""
    payer_wallet_id: str
    """The wallet of the payer that the request named."""
    receiver_wallet_id: str
    """The receiver's wallet."""
    amount: int
    """The amount of the payment, in KRW."""
    breakdown: PaymentBreakdown
    """The parts that the payer's wallets paid."""
    incentive_accrued: int
    """The incentive granted on the part paid from the NORMAL wallet, in KRW."""
    refunded_amount: int
    """The sum of the payment's refunds, in KRW. 0 for a CANCELLED payment."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    cancellation: PaymentCancellation | None
    """The cancellation; null unless the payment is CANCELLED."""
    created_at: datetime
    """When the payment was made."""


@dataclass(frozen=True, kw_only=True)
class PaymentPage:
    """The data of PaymentPage."""

    items: list[Payment]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class PaymentCancellation:
    """The cancellation of a payment. Its `settlement` is that of the returned money, PENDING at
    first: read the payment again to follow it.
    """

    cancel_id: str
    """The cancellation's id."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    restored: RestoredAmounts
    incentive_clawed_back: int
    """The part of the accrual that was taken from the INCENTIVE wallet, in KRW."""
    kept_from_normal: int
    """The part of the accrual that was spent already and is deducted from the amount returned to
    NORMAL, in KRW.
    """
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    created_at: datetime
    """When the payment was cancelled."""


@dataclass(frozen=True, kw_only=True)
class CancelledPaymentBreakdown:
    """The parts that the payer's wallets paid."""

    government: int
    """Paid from the GOVERNMENT wallet, in KRW."""
    incentive: int
    """Paid from the INCENTIVE wallet, in KRW."""
    normal: int
    """Paid from the NORMAL wallet, in KRW."""


@dataclass(frozen=True, kw_only=True)
class CancelledPayment:
    """The data of CancelledPayment."""

    payment_id: str
    """The payment's id."""
    status: Literal["PAID", "PARTIALLY_REFUNDED", "REFUNDED", "CANCELLED"]
    """REFUNDED when refunds returned the whole amount. CANCELLED when it was cancelled at once."""
    payer_wallet_id: str
    """The wallet of the payer that the request named."""
    receiver_wallet_id: str
    """The receiver's wallet."""
    amount: int
    """The amount of the payment, in KRW."""
    breakdown: CancelledPaymentBreakdown
    """The parts that the payer's wallets paid."""
    incentive_accrued: int
    """The incentive granted on the part paid from the NORMAL wallet, in KRW."""
    refunded_amount: int
    """The sum of the payment's refunds, in KRW. 0 for a CANCELLED payment."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    cancellation: PaymentCancellation
    """The cancellation of a payment. Its `settlement` is that of the returned money, PENDING at
    first: read the payment again to follow it.
    """
    created_at: datetime
    """When the payment was made."""
    cancel_id: str
    """This cancellation's id."""
    restored: RestoredAmounts
    incentive_clawed_back: int
    """The part of the accrual that was taken from the INCENTIVE wallet, in KRW."""
    kept_from_normal: int
    """The part of the accrual that was spent already and is deducted from the amount returned to
    NORMAL, in KRW.
    """


@dataclass(frozen=True, kw_only=True)
class PaymentRefund:
    """A refund of a part of a payment. `amount` is `restored.normal` + `restored.incentive` +
    `keptFromNormal`. Its `settlement` is that of the returned money, PENDING at first: read the
    payment again to follow it.
    """

    refund_id: str
    """This refund's id."""
    amount: int
    """The refunded part of the payment, in KRW."""
    restored: RestoredAmounts
    incentive_clawed_back: int
    """The part of the accrual that was taken from the INCENTIVE wallet, in KRW."""
    kept_from_normal: int
    """The part of the accrual that was spent already and is deducted from the amount returned to
    NORMAL, in KRW.
    """
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    created_at: datetime
    """When the part was refunded."""


@dataclass(frozen=True, kw_only=True)
class RefundedPaymentBreakdown:
    """The parts that the payer's wallets paid."""

    government: int
    """Paid from the GOVERNMENT wallet, in KRW."""
    incentive: int
    """Paid from the INCENTIVE wallet, in KRW."""
    normal: int
    """Paid from the NORMAL wallet, in KRW."""


@dataclass(frozen=True, kw_only=True)
class RefundedPaymentCancellation:
    """The cancellation; null unless the payment is CANCELLED."""

    cancel_id: str
    """The cancellation's id."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    restored: RestoredAmounts
    incentive_clawed_back: int
    """The part of the accrual that was taken from the INCENTIVE wallet, in KRW."""
    kept_from_normal: int
    """The part of the accrual that was spent already and is deducted from the amount returned to
    NORMAL, in KRW.
    """
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    created_at: datetime
    """When the payment was cancelled."""


@dataclass(frozen=True, kw_only=True)
class RefundedPayment:
    """The data of RefundedPayment."""

    payment_id: str
    """The payment's id."""
    status: Literal["PAID", "PARTIALLY_REFUNDED", "REFUNDED", "CANCELLED"]
    """REFUNDED when refunds returned the whole amount. CANCELLED when it was cancelled at once."""
    payer_wallet_id: str
    """The wallet of the payer that the request named."""
    receiver_wallet_id: str
    """The receiver's wallet."""
    amount: int
    """The amount of the payment, in KRW."""
    breakdown: RefundedPaymentBreakdown
    """The parts that the payer's wallets paid."""
    incentive_accrued: int
    """The incentive granted on the part paid from the NORMAL wallet, in KRW."""
    refunded_amount: int
    """The sum of the payment's refunds, in KRW. 0 for a CANCELLED payment."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    cancellation: RefundedPaymentCancellation | None
    """The cancellation; null unless the payment is CANCELLED."""
    created_at: datetime
    """When the payment was made."""
    refund_id: str
    """This refund's id."""
    refund: PaymentRefund
    """A refund of a part of a payment. `amount` is `restored.normal` + `restored.incentive` +
    `keptFromNormal`. Its `settlement` is that of the returned money, PENDING at first: read the
    payment again to follow it.
    """


@dataclass(frozen=True, kw_only=True)
class PaymentWithRefundsBreakdown:
    """The parts that the payer's wallets paid."""

    government: int
    """Paid from the GOVERNMENT wallet, in KRW."""
    incentive: int
    """Paid from the INCENTIVE wallet, in KRW."""
    normal: int
    """Paid from the NORMAL wallet, in KRW."""


@dataclass(frozen=True, kw_only=True)
class PaymentWithRefundsCancellation:
    """The cancellation; null unless the payment is CANCELLED."""

    cancel_id: str
    """The cancellation's id."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    restored: RestoredAmounts
    incentive_clawed_back: int
    """The part of the accrual that was taken from the INCENTIVE wallet, in KRW."""
    kept_from_normal: int
    """The part of the accrual that was spent already and is deducted from the amount returned to
    NORMAL, in KRW.
    """
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    created_at: datetime
    """When the payment was cancelled."""


@dataclass(frozen=True, kw_only=True)
class PaymentWithRefunds:
    """A payment with its refunds. Each refund has a settlement of its own."""

    payment_id: str
    """The payment's id."""
    status: Literal["PAID", "PARTIALLY_REFUNDED", "REFUNDED", "CANCELLED"]
    """REFUNDED when refunds returned the whole amount. CANCELLED when it was cancelled at once."""
    payer_wallet_id: str
    """The wallet of the payer that the request named."""
    receiver_wallet_id: str
    """The receiver's wallet."""
    amount: int
    """The amount of the payment, in KRW."""
    breakdown: PaymentWithRefundsBreakdown
    """The parts that the payer's wallets paid."""
    incentive_accrued: int
    """The incentive granted on the part paid from the NORMAL wallet, in KRW."""
    refunded_amount: int
    """The sum of the payment's refunds, in KRW. 0 for a CANCELLED payment."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    cancellation: PaymentWithRefundsCancellation | None
    """The cancellation; null unless the payment is CANCELLED."""
    created_at: datetime
    """When the payment was made."""
    refunds: list[PaymentRefund]
    """The refunds of the payment, oldest first. Of more than 100 only the newest; the receiver's
    transactions of type PAYMENT_CANCEL have all.
    """


WalletType = Literal["NORMAL", "INCENTIVE", "GOVERNMENT"]
"""The type of a wallet. A payment uses GOVERNMENT, then INCENTIVE, then NORMAL. In this version
the GOVERNMENT part is 0, and a GOVERNMENT wallet cannot transfer: refund it, or cancel its
charge within 30 days, to take the money out.
"""


WalletStatus = Literal["ACTIVE", "DEACTIVATED"]
"""A DEACTIVATED wallet can only be read."""


@dataclass(frozen=True, kw_only=True)
class CreatedWallet:
    """A wallet as it was created. Its availableBalance and updatedAt are left out."""

    wallet_id: str
    """The wallet's id."""
    user_id: str
    """The user's identifier in your system."""
    wallet_type: WalletType
    """The type of a wallet. A payment uses GOVERNMENT, then INCENTIVE, then NORMAL. In this
    version the GOVERNMENT part is 0, and a GOVERNMENT wallet cannot transfer: refund it, or
    cancel its charge within 30 days, to take the money out.
    """
    wallet_address: str
    """The wallet's blockchain address, with EIP-55 checksum."""
    balance: int
    """The wallet's balance, in KRW."""
    status: WalletStatus
    """A DEACTIVATED wallet can only be read."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    created_at: datetime
    """When the wallet was created."""


@dataclass(frozen=True, kw_only=True)
class Wallet:
    """A wallet of one of your users."""

    wallet_id: str
    """The wallet's id."""
    user_id: str
    """The user's identifier in your system."""
    wallet_type: WalletType
    """The type of a wallet. A payment uses GOVERNMENT, then INCENTIVE, then NORMAL. In this
    version the GOVERNMENT part is 0, and a GOVERNMENT wallet cannot transfer: refund it, or
    cancel its charge within 30 days, to take the money out.
    """
    wallet_address: str
    """The wallet's blockchain address, with EIP-55 checksum."""
    balance: int
    """The wallet's balance, in KRW."""
    available_balance: int
    """The balance less the holds of transfers under way, in KRW."""
    status: WalletStatus
    """A DEACTIVATED wallet can only be read."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    created_at: datetime
    """When the wallet was created."""
    updated_at: datetime
    """When the wallet last changed."""


@dataclass(frozen=True, kw_only=True)
class WalletPage:
    """The data of WalletPage."""

    items: list[Wallet]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class WalletTransaction:
    """One movement of a wallet's balance."""

    wallet_id: str
    """The wallet whose balance moved."""
    transaction_id: str
    """The id of this entry of the list. It is not used by other operations."""
    type: Literal["TRANSFER", "CHARGE", "CHARGE_CANCEL", "PAYMENT", "PAYMENT_CANCEL", "REFUND", "INCENTIVE", "INCENTIVE_USE", "INCENTIVE_CANCEL", "INCENTIVE_USE_CANCEL"]
    """What moved the balance."""
    direction: Literal["IN", "OUT"]
    """IN raises the balance, OUT lowers it."""
    amount: int
    """The amount that moved, in KRW."""
    balance_after: int
    """The wallet's balance afterwards, in KRW."""
    counterparty: str | None
    """The other wallet's id or the outside address. null for minted and burnt money. Of several
    wallets of a payer the first that paid.
    """
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    related_id: str
    """The id of the charge, refund, payment, transfer or deposit. All entries of one payment have
    the same.
    """
    status: Literal["COMPLETED", "CHARGED", "PARTIALLY_CANCELLED", "CANCELLED", "PAID", "PARTIALLY_REFUNDED", "REFUNDED"]
    """The status of the charge or payment in `relatedId`, as it is now. COMPLETED for transfers,
    refunds and deposits: an outside transfer that is PENDING or FAILED moves no balance.
    """
    cancel_id: str | None
    """The id of the cancellation (ccl_… or pcl_…) or refund (prf_…) when the entry takes a charge
    or payment back; otherwise null.
    """
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    created_at: datetime
    """When the entry was posted."""


@dataclass(frozen=True, kw_only=True)
class WalletTransactionPage:
    """The data of WalletTransactionPage."""

    items: list[WalletTransaction]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class BalanceAtTime:
    """The data of BalanceAtTime."""

    wallet_id: str
    """The wallet's id."""
    at: datetime
    """The time of the balance."""
    balance: int
    """The balance at this time, in KRW."""


@dataclass(frozen=True, kw_only=True)
class TransactionPage:
    """The data of TransactionPage."""

    items: list[WalletTransaction]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class Statement:
    """The movements of one wallet in a period."""

    wallet_id: str
    """The wallet's id."""
    opening_balance: int
    """The balance at the start of the period, in KRW."""
    closing_balance: int
    """The balance at the end of the period, in KRW."""
    transactions: list[WalletTransaction]
    """The movements, oldest first."""


@dataclass(frozen=True, kw_only=True)
class Statements:
    """The data of Statements."""

    from_: datetime
    """The start of the period."""
    to: datetime
    """The end of the period."""
    statements: list[Statement]
    """One for each wallet."""


@dataclass(frozen=True, kw_only=True)
class SettledOperation:
    """An operation and its settlement on the chain."""

    operation_id: str
    """The id of the charge, transfer, payment, deposit, refund or cancellation."""
    type: Literal["TRANSFER", "CHARGE", "CHARGE_CANCEL", "PAYMENT", "PAYMENT_CANCEL", "REFUND", "INCENTIVE", "INCENTIVE_USE", "INCENTIVE_CANCEL", "INCENTIVE_USE_CANCEL"]
    """What moved the balance."""
    amount: int
    """The amount of its first movement, in KRW."""
    settlement: Settlement
    """The state of a movement on the chain. Read the object again while `status` is PENDING or
    SUBMITTED. For transfers and recorded transactions use their own `status` instead: an
    outside transfer can be PENDING for a moment while its settlement is CONFIRMED. Several
    movements are settled together and can have the same `txHash`. While SUBMITTED, `txHash` is
    that of the last attempt; a later attempt has another hash.
    """
    created_at: datetime
    """When it was posted."""


@dataclass(frozen=True, kw_only=True)
class Settlements:
    """The data of Settlements."""

    from_: datetime
    """The start of the period."""
    to: datetime
    """The end of the period."""
    operations: list[SettledOperation]
    """The operations, oldest first."""


NetworkType = Literal["WON_TESTNET", "WON_MAINNET", "ETHEREUM_SEPOLIA", "BASE_SEPOLIA", "ARBITRUM_SEPOLIA", "OPTIMISM_SEPOLIA", "POLYGON_AMOY", "KAIA_KAIROS"]
"""A network. The service observes and executes only on its own network, which `settlement.network`
names: WON_TESTNET, or WON_MAINNET in production. For records of other networks you set the
status.
"""


TxPaymentType = Literal["INSTANT", "SCHEDULED"]
"""INSTANT: on the chain already. SCHEDULED: due later."""


TransactionStatus = Literal["PENDING", "CONFIRMED", "FAILED"]
"""PENDING, until it becomes CONFIRMED or FAILED for good."""


@dataclass(frozen=True, kw_only=True)
class RecordedTransaction:
    """A record of an on-chain transaction."""

    id: str
    """The record's id."""
    from_network_type: NetworkType
    """A network. The service observes and executes only on its own network, which
    `settlement.network` names: WON_TESTNET, or WON_MAINNET in production. For records of other
    networks you set the status.
    """
    to_network_type: NetworkType
    """A network. The service observes and executes only on its own network, which
    `settlement.network` names: WON_TESTNET, or WON_MAINNET in production. For records of other
    networks you set the status.
    """
    from_address: str
    """The sender's address."""
    to_address: str
    """The recipient's address."""
    amount: str
    """The amount in the token's smallest unit. With 6 decimals, 1 KRW is 1000000."""
    fee: str | None
    """The fee, in the same unit as amount."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    payment_type: TxPaymentType
    """INSTANT: on the chain already. SCHEDULED: due later."""
    tx_hash: str | None
    """The hash of the transaction on the chain."""
    scheduled_at: datetime | None
    """When the transaction is due; null for INSTANT."""
    status: TransactionStatus
    """PENDING, until it becomes CONFIRMED or FAILED for good."""
    failure_reason: str | None
    """The reason when the status is FAILED: your own text, or one of the service such as
    `amount_is_not_whole_won`, `reverted`, `scheduled_too_long_ago` (the transfer could start
    only months late), or an error code with its message.
    """
    created_at: datetime
    """When the transaction was recorded."""
    updated_at: datetime
    """When the record last changed."""


@dataclass(frozen=True, kw_only=True)
class RecordedTransactionPage:
    """The data of RecordedTransactionPage."""

    items: list[RecordedTransaction]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class TransactionChange:
    """The data of TransactionChange."""

    status: TransactionStatus
    """PENDING, until it becomes CONFIRMED or FAILED for good."""
    scheduled_at: datetime | None
    """The due time after this change; null for INSTANT."""
    reason: str | None
    """`not_seen_on_chain`; `sent_as_` with the transfer's id; `sender_is_not_a_normal_wallet` when
    the transaction was due and is left to you; or the reason for FAILED.
    """
    changed_by: Literal["API", "CHAIN", "SCHEDULER"]
    """API: your request. CHAIN: a final block. SCHEDULER: the service, at the due time."""
    changed_at: datetime
    """When the change was made."""


@dataclass(frozen=True, kw_only=True)
class RecordedTransactionWithHistory:
    """The data of RecordedTransactionWithHistory."""

    id: str
    """The record's id."""
    from_network_type: NetworkType
    """A network. The service observes and executes only on its own network, which
    `settlement.network` names: WON_TESTNET, or WON_MAINNET in production. For records of other
    networks you set the status.
    """
    to_network_type: NetworkType
    """A network. The service observes and executes only on its own network, which
    `settlement.network` names: WON_TESTNET, or WON_MAINNET in production. For records of other
    networks you set the status.
    """
    from_address: str
    """The sender's address."""
    to_address: str
    """The recipient's address."""
    amount: str
    """The amount in the token's smallest unit. With 6 decimals, 1 KRW is 1000000."""
    fee: str | None
    """The fee, in the same unit as amount."""
    memo: str | None
    """The note of the request; null without one."""
    reference: str | None
    """The reference of the request; null without one."""
    metadata: dict[str, str]
    """Your own pairs of strings."""
    payment_type: TxPaymentType
    """INSTANT: on the chain already. SCHEDULED: due later."""
    tx_hash: str | None
    """The hash of the transaction on the chain."""
    scheduled_at: datetime | None
    """When the transaction is due; null for INSTANT."""
    status: TransactionStatus
    """PENDING, until it becomes CONFIRMED or FAILED for good."""
    failure_reason: str | None
    """The reason when the status is FAILED: your own text, or one of the service such as
    `amount_is_not_whole_won`, `reverted`, `scheduled_too_long_ago` (the transfer could start
    only months late), or an error code with its message.
    """
    created_at: datetime
    """When the transaction was recorded."""
    updated_at: datetime
    """When the record last changed."""
    history: list[TransactionChange]
    """The changes of the record, oldest first. Of more than 100 only the newest."""


@dataclass(frozen=True, kw_only=True)
class SandboxDeposit:
    """The data of SandboxDeposit."""

    wallet_id: str
    """The wallet that receives the deposit."""
    amount: int
    """The amount in KRW."""
    from_address: str
    """The address outside that sends the tokens."""
    tx_hash: str | None
    """The hash of the chain transaction; null while it is not sent."""


@dataclass(frozen=True, kw_only=True)
class SandboxSettlement:
    """An order for a settlement."""

    id: str
    """The id of the request."""
    state: Literal["HELD", "FAILING", "RELEASED"]
    """HELD: it is not sent until it is released. FAILING: it fails within seconds, once a final
    block proves that it cannot settle. RELEASED: it goes on.
    """


@dataclass(frozen=True, kw_only=True)
class ExpiredApiKey:
    """The data of ExpiredApiKey."""

    key_id: str
    """The key's id."""
    prefix: str
    """The public part of the key, for lists and logs."""
    name: str
    """What the key is for, in your words."""
    scopes: list[Scope]
    """What the key may do."""
    allowed_addresses: list[str]
    """Addresses and CIDR ranges from which the key may be used. Empty: any address."""
    api_version: str
    """The version of this API that requests without the header Wonrail-Version get."""
    status: Literal["CURRENT", "OVERLAP", "EXPIRED", "REVOKED"]
    """CURRENT: works. OVERLAP: was refreshed and works until `overlapEndsAt`. EXPIRED: can only be
    refreshed. REVOKED: never works again.
    """
    predecessor_id: str | None
    """The id of the key that a refresh replaced by this one; null for another key."""
    issued_at: datetime
    """When the key was issued."""
    expires_at: datetime
    """When the key expires."""
    overlap_ends_at: datetime | None
    """When a refreshed key stops working; null when it was not refreshed."""
    revoked_at: datetime | None
    """When the key was revoked; null when it was not."""


@dataclass(frozen=True, kw_only=True)
class SandboxClock:
    """The test clock of your organisation. Times in other answers are real times."""

    time: datetime
    """The time that the clock shows."""
    real_time: datetime
    """The real time."""
    ahead_seconds: int
    """How far the clock is ahead of the real time."""


EventType = Literal["wallet.created", "wallet.updated", "wallet.deactivated", "wallet.frozen", "charge.created", "charge.cancelled", "refund.created", "transfer.created", "transfer.completed", "transfer.failed", "payment.created", "payment.cancelled", "payment.refunded", "payout.created", "payout.progressed", "payout.completed", "settlement.confirmed", "settlement.failed", "deposit.credited", "transaction.status_changed", "api_key.issued", "api_key.expiring", "webhook.failing", "webhook.disabled"]
"""The type of an event. A later release can add types: ignore those that you do not know."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to an object of your organisation."""

    event_id: str
    """The event's id. The same event always has the same id."""
    type: EventType
    """The type of an event. A later release can add types: ignore those that you do not know."""
    sequence: int
    """The place in the events of your organisation: from 1, without gaps."""
    object_id: str
    """The id of the wallet, charge, refund, transfer, payment, deposit, record, key or webhook."""
    object_sequence: int
    """The place in the events of the object: from 1, without gaps."""
    created_at: datetime
    """When it happened."""
    data: dict[str, Any]
    """The object, as a read of it answered when the event was made. Of a key: `key` of the
    session. A deposit has no read of its own.
    """


@dataclass(frozen=True, kw_only=True)
class EventPagination:
    """The data of EventPagination."""

    limit: int
    """How many events a page has at most."""
    has_next: bool
    """Whether there are more events now."""
    next_after: str
    """`after` of the next request."""


@dataclass(frozen=True, kw_only=True)
class EventPage:
    """The data of EventPage."""

    items: list[Event]
    """The events of this page."""
    pagination: EventPagination


WebhookStatus = Literal["ENABLED", "DISABLED"]
"""A DISABLED webhook gets no events. Its events wait for up to 30 days."""


WebhookOrdering = Literal["none", "object"]
"""object: an event of an object is delivered after the earlier events of the object. none, the
default: at once.
"""


@dataclass(frozen=True, kw_only=True)
class CreatedWebhook:
    """The data of CreatedWebhook."""

    webhook_id: str
    """The webhook's id."""
    url: str
    """Where events are sent."""
    event_types: list[Literal["wallet.created", "wallet.updated", "wallet.deactivated", "wallet.frozen", "charge.created", "charge.cancelled", "refund.created", "transfer.created", "transfer.completed", "transfer.failed", "payment.created", "payment.cancelled", "payment.refunded", "payout.created", "payout.progressed", "payout.completed", "settlement.confirmed", "settlement.failed", "deposit.credited", "transaction.status_changed", "api_key.issued", "api_key.expiring", "webhook.failing", "webhook.disabled"]]
    """Only events of these types. Empty: all types."""
    description: str
    """Your own note."""
    status: WebhookStatus
    """A DISABLED webhook gets no events. Its events wait for up to 30 days."""
    disabled_reason: Literal["REQUESTED", "GONE", "FAILING", "OPERATOR"] | None
    """Why it is DISABLED; null when it is not. REQUESTED: by you. GONE: the endpoint answered 410.
    FAILING: no delivery succeeded for five days. OPERATOR: by the operator of this service.
    """
    ordering: WebhookOrdering
    """object: an event of an object is delivered after the earlier events of the object. none, the
    default: at once.
    """
    failing_since: datetime | None
    """The first failed attempt since the last success; null when the last one succeeded."""
    created_at: datetime
    """When the webhook was created."""
    updated_at: datetime
    """When it was last changed by a request."""
    secret: str
    """The secret that signs deliveries, `whsec_…`. Store it: it is not shown again."""


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """Your endpoint that gets events."""

    webhook_id: str
    """The webhook's id."""
    url: str
    """Where events are sent."""
    event_types: list[Literal["wallet.created", "wallet.updated", "wallet.deactivated", "wallet.frozen", "charge.created", "charge.cancelled", "refund.created", "transfer.created", "transfer.completed", "transfer.failed", "payment.created", "payment.cancelled", "payment.refunded", "payout.created", "payout.progressed", "payout.completed", "settlement.confirmed", "settlement.failed", "deposit.credited", "transaction.status_changed", "api_key.issued", "api_key.expiring", "webhook.failing", "webhook.disabled"]]
    """Only events of these types. Empty: all types."""
    description: str
    """Your own note."""
    status: WebhookStatus
    """A DISABLED webhook gets no events. Its events wait for up to 30 days."""
    disabled_reason: Literal["REQUESTED", "GONE", "FAILING", "OPERATOR"] | None
    """Why it is DISABLED; null when it is not. REQUESTED: by you. GONE: the endpoint answered 410.
    FAILING: no delivery succeeded for five days. OPERATOR: by the operator of this service.
    """
    ordering: WebhookOrdering
    """object: an event of an object is delivered after the earlier events of the object. none, the
    default: at once.
    """
    failing_since: datetime | None
    """The first failed attempt since the last success; null when the last one succeeded."""
    created_at: datetime
    """When the webhook was created."""
    updated_at: datetime
    """When it was last changed by a request."""


@dataclass(frozen=True, kw_only=True)
class WebhookPage:
    """The data of WebhookPage."""

    items: list[Webhook]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class DeletedWebhook:
    """The data of DeletedWebhook."""

    deleted: bool
    """Always true."""


@dataclass(frozen=True, kw_only=True)
class RotatedWebhook:
    """The data of RotatedWebhook."""

    webhook_id: str
    """The webhook's id."""
    url: str
    """Where events are sent."""
    event_types: list[Literal["wallet.created", "wallet.updated", "wallet.deactivated", "wallet.frozen", "charge.created", "charge.cancelled", "refund.created", "transfer.created", "transfer.completed", "transfer.failed", "payment.created", "payment.cancelled", "payment.refunded", "payout.created", "payout.progressed", "payout.completed", "settlement.confirmed", "settlement.failed", "deposit.credited", "transaction.status_changed", "api_key.issued", "api_key.expiring", "webhook.failing", "webhook.disabled"]]
    """Only events of these types. Empty: all types."""
    description: str
    """Your own note."""
    status: WebhookStatus
    """A DISABLED webhook gets no events. Its events wait for up to 30 days."""
    disabled_reason: Literal["REQUESTED", "GONE", "FAILING", "OPERATOR"] | None
    """Why it is DISABLED; null when it is not. REQUESTED: by you. GONE: the endpoint answered 410.
    FAILING: no delivery succeeded for five days. OPERATOR: by the operator of this service.
    """
    ordering: WebhookOrdering
    """object: an event of an object is delivered after the earlier events of the object. none, the
    default: at once.
    """
    failing_since: datetime | None
    """The first failed attempt since the last success; null when the last one succeeded."""
    created_at: datetime
    """When the webhook was created."""
    updated_at: datetime
    """When it was last changed by a request."""
    secret: str
    """The secret that signs deliveries, `whsec_…`. Store it: it is not shown again."""
    previous_secret_ends_at: datetime
    """When the old secret stops signing."""


@dataclass(frozen=True, kw_only=True)
class DeliveryAttempt:
    """The data of DeliveryAttempt."""

    number: int
    """From 1."""
    started_at: datetime
    """When the attempt started."""
    duration_ms: int
    """How long it took."""
    request_head: str | None
    """Method, path and headers of the request. Its body is the event, as GET /api/events/{eventId}
    answers it. Null when the event was no longer kept.
    """
    status_code: int | None
    """The status of the endpoint's answer; null without an answer."""
    response_head: str | None
    """Status, headers and the first 1,000 characters of the body."""
    error: str | None
    """Why the attempt failed; null when it succeeded."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One event for one endpoint."""

    delivery_id: str
    """The delivery's id."""
    event_id: str
    """The event's id, which the header `webhook-id` has."""
    event_type: str
    """The type of the event; webhook.test for a test."""
    sequence: int | None
    """The sequence of the event; null for a test."""
    status: Literal["PENDING", "DELIVERED", "FAILED"]
    """FAILED: no attempt is left."""
    next_attempt_at: datetime | None
    """When the next attempt is due; null when none follows."""
    created_at: datetime
    """When the delivery was made."""
    finished_at: datetime | None
    """When it succeeded or failed for good."""
    attempts: list[DeliveryAttempt]
    """The attempts, oldest first."""


@dataclass(frozen=True, kw_only=True)
class ReplayedWebhook:
    """The data of ReplayedWebhook."""

    deliveries: int
    """How many deliveries follow."""


@dataclass(frozen=True, kw_only=True)
class DeliveryPage:
    """The data of DeliveryPage."""

    items: list[Delivery]
    """The items of this page."""
    pagination: Pagination


@dataclass(frozen=True, kw_only=True)
class Health:
    """The data of Health."""

    status: Literal["ok"]
    """Always ok."""
