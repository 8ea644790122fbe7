# Generated from kit/src/contract/errors.ts by `npm run docs`; do not edit.
"""The version of the API, and every code that the service answers with."""

from typing import NamedTuple

API_VERSION = "2026-01-01"


class ErrorCode(NamedTuple):
    """The meaning of an error code."""

    kind: str
    """The kind of the error, which decides its class."""
    retryable: bool
    """True when the same request may succeed later."""
    message: str
    """The cause and the remedy."""


ERROR_CODES: dict[str, ErrorCode] = {
    "WAUTH_001": ErrorCode("authentication", False, "The request has no valid API key. Send a current key in the X-API-Key header, and read details.reason when it is given."),
    "WAUTH_002": ErrorCode("authentication", False, "The API key has expired. Get a new one with POST /api/wallet-auth/refresh and your secret key."),
    "WAUTH_003": ErrorCode("permission", False, "The organisation's subscription is not active. Renew it with the operator of this service."),
    "WAUTH_004": ErrorCode("permission", False, "The plan's limit is reached. Wait until details.resetsAt, or change the plan."),
    "WAUTH_005": ErrorCode("permission", False, "The API key lacks the scope that details.scope names. Use a key that has it."),
    "WAUTH_006": ErrorCode("permission", False, "The API key may not be used from the address in details.address. Use an address of the key's allow-list."),
    "WAUTH_007": ErrorCode("not_found", False, "The API key does not exist. Check the id."),
    "WAUTH_008": ErrorCode("conflict", False, "The organisation has too many usable API keys. Revoke keys that are not used."),
    "WAL_001": ErrorCode("conflict", False, "This user already has a wallet of this type. Use the wallet that details.walletId names."),
    "WAL_002": ErrorCode("not_found", False, "The wallet does not exist. Check the id; details.walletId repeats it."),
    "WAL_003": ErrorCode("conflict", False, "The wallet still holds money. Transfer or refund it, wait for transfers under way, then deactivate again."),
    "WAL_004": ErrorCode("refused", False, "The wallet is deactivated. Use another wallet, or ask the operator of this service to reactivate it."),
    "WAL_005": ErrorCode("conflict", False, "The wallet is frozen. See details.freeze, and contact us to lift it."),
    "TRF_001": ErrorCode("refused", False, "The wallet's available balance is too low for this transfer. Charge the wallet or lower the amount."),
    "TRF_002": ErrorCode("invalid_request", False, "The destination address is not valid. Check it, and its upper and lower case letters."),
    "TRF_003": ErrorCode("refused", False, "The wallet's daily transfer limit would be exceeded. Lower the amount, or wait until the next day in Asia/Seoul."),
    "TRF_004": ErrorCode("refused", False, "Wallets of this type do not transfer. Use a NORMAL wallet on both sides."),
    "TRF_005": ErrorCode("not_found", False, "The transfer does not exist. Check the id."),
    "CHG_001": ErrorCode("invalid_request", False, "The charge is below the minimum of 1,000 KRW. Raise the amount."),
    "CHG_002": ErrorCode("not_found", False, "The charge or refund does not exist. Check the id."),
    "CHG_003": ErrorCode("refused", False, "The charge is already cancelled. Read it to see its cancellations."),
    "CHG_004": ErrorCode("refused", False, "The 30 days in which a charge can be cancelled are over. Refund the wallet instead."),
    "CHG_005": ErrorCode("refused", False, "The amount is more than what remains of the charge. Cancel at most details.remaining."),
    "CHG_006": ErrorCode("refused", False, "The wallet's available balance is too low to cancel this much. Lower the amount or charge the wallet."),
    "CHG_007": ErrorCode("refused", False, "The wallet cannot be refunded. See details.reason."),
    "CHG_008": ErrorCode("refused", False, "The charge is over a limit, see details.reason. Lower the amount, or wait until the next day in Asia/Seoul."),
    "PAY_001": ErrorCode("refused", False, "The available balance is too low. Charge the wallet, or lower the amount."),
    "PAY_002": ErrorCode("invalid_request", False, "The payment is below the minimum of 100 KRW. Raise the amount."),
    "PAY_003": ErrorCode("refused", False, "The payment is already cancelled. Read it to see the cancellation."),
    "PAY_004": ErrorCode("not_found", False, "The payment does not exist. Check the id."),
    "PAY_005": ErrorCode("refused", False, "This wallet cannot receive the payment. See details.reason, and name a NORMAL wallet of another user."),
    "PAY_006": ErrorCode("refused", False, "The incentiveAmount is too large. See details.reason, and lower or omit it."),
    "PAY_007": ErrorCode("refused", False, "The payment is too old to be cancelled or refunded. Send a payment or transfer back instead."),
    "PAY_008": ErrorCode("refused", False, "The payment is refunded in part, so it cannot be cancelled. Refund the rest of it."),
    "PAY_009": ErrorCode("refused", False, "The amount is more than what remains of the payment. Refund at most details.remaining."),
    "PYO_001": ErrorCode("not_found", False, "The payout does not exist. Check the id."),
    "TX_001": ErrorCode("not_found", False, "The recorded transaction does not exist. Check the id."),
    "TX_002": ErrorCode("conflict", False, "A transaction with this txHash is already recorded. Use the record that details.id names."),
    "TX_003": ErrorCode("conflict", False, "The transaction's status does not allow this change. Read it; CONFIRMED and FAILED are final."),
    "TX_004": ErrorCode("refused", False, "The schedule can no longer be changed. See details.reason."),
    "EVT_001": ErrorCode("not_found", False, "The event does not exist. Check the id; events are kept for 30 days."),
    "EVT_002": ErrorCode("conflict", False, "The events after this cursor have been deleted. Read the objects again, then continue with after = details.oldestAfter."),
    "WHK_001": ErrorCode("not_found", False, "The webhook does not exist. Check the id."),
    "WHK_002": ErrorCode("invalid_request", False, "Events cannot be sent to this URL. See details.reason, and give an https URL that leads to no private address."),
    "WHK_003": ErrorCode("conflict", False, "The organisation has too many webhooks. Delete one that is not used."),
    "SBX_001": ErrorCode("not_found", False, "The sandbox knows no settlement of this id yet. Check the id, and try again in a second."),
    "SBX_002": ErrorCode("conflict", False, "The settlement is sent or ended, see details.state. Hold the next one with the memo sandbox:settlement_held."),
    "SBX_003": ErrorCode("conflict", False, "The sandbox cannot make this deposit. See details.reason, and ask the operator of this service."),
    "REQ_001": ErrorCode("invalid_request", False, "The request is not valid. Correct the fields that details.fields names."),
    "REQ_002": ErrorCode("conflict", True, "A request with this Idempotency-Key is still running. Try again shortly with the same key."),
    "REQ_003": ErrorCode("invalid_request", False, "This Idempotency-Key was used with a different request. Send the first request again, or use a new key for a new request."),
    "REQ_004": ErrorCode("not_found", False, "There is no such route. Check details.method and details.path."),
    "REQ_005": ErrorCode("invalid_request", False, "The route does not support this method. The Allow header lists the methods that it supports."),
    "REQ_006": ErrorCode("invalid_request", False, "The request is too large. Send a body of at most 64 KiB, 4 MiB for a payout, and headers of at most 8 KiB."),
    "REQ_007": ErrorCode("invalid_request", False, "The body is not uncompressed JSON. Send it as application/json without Content-Encoding."),
    "REQ_008": ErrorCode("invalid_request", False, "The Wonrail-Version is not known. Send one of details.versions, or no such header."),
    "SIG_001": ErrorCode("permission", False, "Signing was refused. See details.reason."),
    "RATE_001": ErrorCode("rate_limit", True, "Too many requests. Wait for the seconds in the Retry-After header, then repeat."),
    "SYS_001": ErrorCode("server", False, "Something went wrong on our side. Quote the requestId when you contact us."),
    "SYS_002": ErrorCode("unavailable", True, "The service is busy or not reachable. This attempt changed nothing. An earlier attempt with the same Idempotency-Key may have succeeded: try again with the same key."),
    "SYS_003": ErrorCode("outcome_unknown", True, "The outcome is not known. Send the request again with the same Idempotency-Key, or as the operation's description says."),
    "SYS_004": ErrorCode("server", False, "This operation is not available in this release."),
}
