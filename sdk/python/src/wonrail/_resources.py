# Generated from gateway/openapi.json by `npm run docs`; do not edit.
"""The calls of each resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from . import models
from ._page import Page
from ._resource import OMIT, Omit, Resource
from ._transport import Transport


class AuthApi(Resource):
    """Calls of Authentication."""

    def refresh_key(
        self,
        *,
        api_key: str,
        secret_key: str,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RefreshedKey:
        """Exchange an API key for a new one. Needs no key header: the body has the credentials.
        The old key keeps working for a short overlap, never past its own expiry. The new key
        has the name, scopes, allow-list and version of the old one. A repetition returns the
        same new key. Wrong secrets are limited by address.
        """
        return self._call(
            "POST",
            "/api/wallet-auth/refresh",
            models.RefreshedKey,
            body={
                "apiKey": api_key,
                "secretKey": secret_key,
            },
            is_open=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def revoke_key(
        self,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RevokedKey:
        """Revoke the API key of this request. Revokes the key for good: it is refused everywhere
        within a second and cannot be refreshed. Works without an active subscription, too.
        Needs no scope.
        """
        return self._call(
            "DELETE",
            "/api/wallet-auth/api-key",
            models.RevokedKey,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get_session(
        self,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Session:
        """Read the session of the API key. Returns the organisation, key, plan, limits and usage.
        The answer can be a second old. Works without an active subscription, too. Needs no
        scope.
        """
        return self._call(
            "GET",
            "/api/wallet-auth/session",
            models.Session,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class KeysApi(Resource):
    """Calls of API keys."""

    def issue(
        self,
        *,
        name: str,
        scopes: Sequence[models.Scope],
        allowed_addresses: Sequence[str] | Omit = OMIT,
        expires_at: datetime | str | Omit = OMIT,
        api_version: Literal["2026-01-01"] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.IssuedKey:
        """Issue another API key. The new key has the scopes that you name. A scope that your own
        key lacks is refused with WAUTH_005. An address outside of your own key's allow-list is
        refused, too. The answer is the only one that shows the key. It is not stored, so
        `apiKey` is null in the answer to a repetition with the same Idempotency-Key. If the
        first answer did not reach you, revoke the key and issue another. Needs the scope
        `keys:manage`.
        """
        return self._call(
            "POST",
            "/api/wallet-auth/keys",
            models.IssuedKey,
            body={
                "name": name,
                "scopes": scopes,
                "allowedAddresses": allowed_addresses,
                "expiresAt": expires_at,
                "apiVersion": api_version,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.ApiKey]:
        """List API keys, newest first. Returns a page of the organisation's keys, revoked and
        expired ones included. Needs the scope `keys:manage`.
        """
        return self._list(
            "/api/wallet-auth/keys",
            models.ApiKey,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        key_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.ApiKey:
        """Read an API key. Returns one key of the organisation, without its secret part. Needs the
        scope `keys:manage`.
        """
        return self._call(
            "GET",
            "/api/wallet-auth/keys/{keyId}",
            models.ApiKey,
            ids={"keyId": key_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def delete(
        self,
        key_id: str,
        *,
        with_successors: Literal["true", "false"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.DeletedKey:
        """Revoke an API key. Revokes a key of the organisation for good, whatever its scopes are:
        it is refused everywhere within a second and cannot be refreshed. After a leak revoke
        the successors too, because whoever has the key and the secret key can have refreshed
        it. A repetition changes nothing. Needs the scope `keys:manage`.
        """
        return self._call(
            "DELETE",
            "/api/wallet-auth/keys/{keyId}",
            models.DeletedKey,
            ids={"keyId": key_id},
            query={
                "withSuccessors": with_successors,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def rotate_secret_key(
        self,
        *,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RotatedSecretKey:
        """Replace the secret key of the organisation. Issues a new secret key. The old one
        refreshes no API key from now on. All API keys stay valid. The answer is the only one
        that shows the secret key. It is not stored, so `secretKey` is null in the answer to a
        repetition with the same Idempotency-Key. If the first answer did not reach you, send
        the request again with a new key. Needs the scope `keys:manage`.
        """
        return self._call(
            "POST",
            "/api/wallet-auth/rotate-secret",
            models.RotatedSecretKey,
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class TransfersApi(Resource):
    """Calls of Transfers."""

    def create(
        self,
        *,
        from_wallet_id: str,
        to_wallet_address: str,
        amount: int,
        memo: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        metadata: dict[str, str] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Transfer:
        """Transfer from a NORMAL wallet to an address. Uses ERC-3009 transferWithAuthorization:
        the user pays no gas. A transfer to an outside address holds the amount until its block
        is final, and gives it back when the transfer is FAILED. A wallet sends at most
        `dailyTransferLimit` of your session in a day of Asia/Seoul, transfers to your own
        wallets included; TRF_003 tells how much was used. FAILED transfers do not count.
        TRF_002 is answered for a malformed address, a wrong checksum, the zero address, the
        wallet's own address, the token and the payment manager. TRF_004 is answered when a
        wallet is not NORMAL; `details.walletId` names it. Needs the scope `transfers:write`.
        """
        return self._call(
            "POST",
            "/api/wallets/transfer",
            models.Transfer,
            body={
                "fromWalletId": from_wallet_id,
                "toWalletAddress": to_wallet_address,
                "amount": amount,
                "memo": memo,
                "reference": reference,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        wallet_id: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        status: Literal["PENDING", "COMPLETED", "FAILED"] | Omit = OMIT,
        settlement_status: Literal["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"] | Omit = OMIT,
        min_amount: int | Omit = OMIT,
        max_amount: int | Omit = OMIT,
        from_: datetime | str | Omit = OMIT,
        to: datetime | str | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.Transfer]:
        """List transfers. Sorted by the time of the request, which the ids contain. A scheduled
        transfer is sorted by its scheduled time, also when it was sent later. `GET
        /api/wallets/{walletId}/transactions` sorts by the time the balance changed. Needs the
        scope `transfers:read`.
        """
        return self._list(
            "/api/wallets/transfer",
            models.Transfer,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "walletId": wallet_id,
                "reference": reference,
                "status": status,
                "settlementStatus": settlement_status,
                "minAmount": min_amount,
                "maxAmount": max_amount,
                "from": from_,
                "to": to,
                "order": order,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        transfer_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Transfer:
        """Read a transfer. Returns one transfer. Needs the scope `transfers:read`."""
        return self._call(
            "GET",
            "/api/wallets/transfer/{transferId}",
            models.Transfer,
            ids={"transferId": transfer_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update(
        self,
        transfer_id: str,
        *,
        metadata: dict[str, str | None],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Transfer:
        """Change a transfer's metadata. Merges pairs into the metadata. Everything else stays as
        it is, in any state of the object. The answer that an Idempotency-Key replays keeps the
        metadata of the request. Needs the scope `transfers:write`.
        """
        return self._call(
            "PATCH",
            "/api/wallets/transfer/{transferId}",
            models.Transfer,
            ids={"transferId": transfer_id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class PayoutsApi(Resource):
    """Calls of Payouts."""

    def create(
        self,
        *,
        from_wallet_id: str,
        mode: Literal["ATOMIC", "BEST_EFFORT"] | Omit = OMIT,
        dry_run: bool | Omit = OMIT,
        rows: Sequence[Mapping[str, Any]] | Omit = OMIT,
        csv: str | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Payout:
        """Transfer to many addresses. Stores the payout and answers at once. Its rows are posted
        within seconds, and `payout.completed` tells of the end. Each row is a transfer with the
        rules of `POST /api/wallets/transfer`, the daily limit of the wallet included. ATOMIC
        posts all rows or none. BEST_EFFORT posts each row by itself. A row in a wrong form
        refuses the request with REQ_001: nothing is stored, and `details.fields` names up to
        100 problems as `rows[17].amount`. Give either `rows` or `csv`. A payout counts as one
        operation of the plan. Needs the scope `transfers:write`.
        """
        return self._call(
            "POST",
            "/api/payouts",
            models.Payout,
            body={
                "fromWalletId": from_wallet_id,
                "mode": mode,
                "dryRun": dry_run,
                "rows": rows,
                "csv": csv,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        status: Literal["PENDING", "COMPLETED", "REFUSED"] | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.Payout]:
        """List payouts. Returns a page of payouts, sorted by the time of the request. Needs the
        scope `transfers:read`.
        """
        return self._list(
            "/api/payouts",
            models.Payout,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "status": status,
                "order": order,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        payout_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Payout:
        """Read a payout. Returns one payout with the counts of its rows. Needs the scope
        `transfers:read`.
        """
        return self._call(
            "GET",
            "/api/payouts/{payoutId}",
            models.Payout,
            ids={"payoutId": payout_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list_rows(
        self,
        payout_id: str,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        status: Literal["PENDING", "ACCEPTED", "REFUSED", "SKIPPED"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.PayoutRow]:
        """List the rows of a payout. Returns a page of rows with their outcomes, in the order of
        the request. Needs the scope `transfers:read`.
        """
        return self._list(
            "/api/payouts/{payoutId}/rows",
            models.PayoutRow,
            ids={"payoutId": payout_id},
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "status": status,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class ChargesApi(Resource):
    """Calls of Charges."""

    def create(
        self,
        *,
        wallet_id: str,
        amount: int,
        memo: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        metadata: dict[str, str] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Charge:
        """Charge a wallet. Puts new money into a wallet of any type (top-up). CHG_008 means that
        the charge is over a limit. `details.reason` says which: `max_charge` for a single
        charge, `daily_limit` for the organisation's charges of this day of Asia/Seoul, or
        `service_limit` for the charges of all organisations. Needs the scope `charges:write`.
        """
        return self._call(
            "POST",
            "/api/wallets/charge",
            models.Charge,
            body={
                "walletId": wallet_id,
                "amount": amount,
                "memo": memo,
                "reference": reference,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        wallet_id: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        status: Literal["CHARGED", "PARTIALLY_CANCELLED", "CANCELLED"] | Omit = OMIT,
        settlement_status: Literal["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"] | Omit = OMIT,
        min_amount: int | Omit = OMIT,
        max_amount: int | Omit = OMIT,
        from_: datetime | str | Omit = OMIT,
        to: datetime | str | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.Charge]:
        """List charges. Returns a page of the organisation's charges, optionally those of one
        wallet. Read one charge to get its cancellations. Needs the scope `charges:read`.
        """
        return self._list(
            "/api/wallets/charge",
            models.Charge,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "walletId": wallet_id,
                "reference": reference,
                "status": status,
                "settlementStatus": settlement_status,
                "minAmount": min_amount,
                "maxAmount": max_amount,
                "from": from_,
                "to": to,
                "order": order,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def cancel(
        self,
        *,
        charge_id: str,
        amount: int | Omit = OMIT,
        memo: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        metadata: dict[str, str] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.CancelledCharge:
        """Cancel a charge or a part of it. Takes a charge back within 30 days, in any number of
        parts. `balance` is the balance after this call. `settlement`, here and in
        `cancellation`, is the cancellation's own and PENDING at first; read the charge for the
        charge's own. Needs the scope `charges:write`.
        """
        return self._call(
            "POST",
            "/api/wallets/charge/cancel",
            models.CancelledCharge,
            body={
                "chargeId": charge_id,
                "amount": amount,
                "memo": memo,
                "reference": reference,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update_cancellation(
        self,
        cancel_id: str,
        *,
        metadata: dict[str, str | None],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.ChargeCancellation:
        """Change the metadata of a charge's cancellation. Merges pairs into the metadata.
        Everything else stays as it is, in any state of the object. The answer that an
        Idempotency-Key replays keeps the metadata of the request. Needs the scope
        `charges:write`.
        """
        return self._call(
            "PATCH",
            "/api/wallets/charge/cancel/{cancelId}",
            models.ChargeCancellation,
            ids={"cancelId": cancel_id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def refund_wallet(
        self,
        *,
        wallet_id: str,
        memo: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        metadata: dict[str, str] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Refund:
        """Refund the available balance of a NORMAL or GOVERNMENT wallet. Pays out the available
        balance of the wallet (cash-out): the balance less the holds of transfers under way.
        CHG_007 when nothing is available, or for an INCENTIVE wallet: cancel its charges
        instead. Needs the scope `charges:write`.
        """
        return self._call(
            "POST",
            "/api/wallets/charge/refund",
            models.Refund,
            body={
                "walletId": wallet_id,
                "memo": memo,
                "reference": reference,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list_refunds(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        wallet_id: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        settlement_status: Literal["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"] | Omit = OMIT,
        min_amount: int | Omit = OMIT,
        max_amount: int | Omit = OMIT,
        from_: datetime | str | Omit = OMIT,
        to: datetime | str | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.Refund]:
        """List refunds. Returns a page of the organisation's refunds, optionally those of one
        wallet. Needs the scope `charges:read`.
        """
        return self._list(
            "/api/wallets/charge/refund",
            models.Refund,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "walletId": wallet_id,
                "reference": reference,
                "settlementStatus": settlement_status,
                "minAmount": min_amount,
                "maxAmount": max_amount,
                "from": from_,
                "to": to,
                "order": order,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get_refund(
        self,
        refund_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Refund:
        """Read a refund. Returns one refund. Needs the scope `charges:read`."""
        return self._call(
            "GET",
            "/api/wallets/charge/refund/{refundId}",
            models.Refund,
            ids={"refundId": refund_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update_refund(
        self,
        refund_id: str,
        *,
        metadata: dict[str, str | None],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Refund:
        """Change a refund's metadata. Merges pairs into the metadata. Everything else stays as it
        is, in any state of the object. The answer that an Idempotency-Key replays keeps the
        metadata of the request. Needs the scope `charges:write`.
        """
        return self._call(
            "PATCH",
            "/api/wallets/charge/refund/{refundId}",
            models.Refund,
            ids={"refundId": refund_id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        charge_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.ChargeWithCancellations:
        """Read a charge. Returns one charge with its cancellations. Needs the scope
        `charges:read`.
        """
        return self._call(
            "GET",
            "/api/wallets/charge/{chargeId}",
            models.ChargeWithCancellations,
            ids={"chargeId": charge_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update(
        self,
        charge_id: str,
        *,
        metadata: dict[str, str | None],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.ChargeWithCancellations:
        """Change a charge's metadata. Merges pairs into the metadata. Everything else stays as it
        is, in any state of the object. The answer that an Idempotency-Key replays keeps the
        metadata of the request. Needs the scope `charges:write`.
        """
        return self._call(
            "PATCH",
            "/api/wallets/charge/{chargeId}",
            models.ChargeWithCancellations,
            ids={"chargeId": charge_id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class PaymentsApi(Resource):
    """Calls of Payments."""

    def create(
        self,
        *,
        payer_wallet_id: str,
        receiver_wallet_id: str,
        amount: int,
        incentive_amount: int | None | Omit = OMIT,
        memo: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        metadata: dict[str, str] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Payment:
        """Pay from a user's wallets to another wallet. Uses the payer's wallets in the order
        GOVERNMENT, INCENTIVE, NORMAL; the GOVERNMENT part is 0 in this version. Incentive is
        granted only on the part paid from NORMAL, and not while the payer's INCENTIVE wallet is
        deactivated. A payer without an INCENTIVE wallet gets one, which stays when the payment
        is refused. Needs the scope `payments:write`.
        """
        return self._call(
            "POST",
            "/api/wallets/payment",
            models.Payment,
            body={
                "payerWalletId": payer_wallet_id,
                "receiverWalletId": receiver_wallet_id,
                "amount": amount,
                "incentiveAmount": incentive_amount,
                "memo": memo,
                "reference": reference,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        wallet_id: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        status: Literal["PAID", "PARTIALLY_REFUNDED", "REFUNDED", "CANCELLED"] | Omit = OMIT,
        settlement_status: Literal["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"] | Omit = OMIT,
        min_amount: int | Omit = OMIT,
        max_amount: int | Omit = OMIT,
        from_: datetime | str | Omit = OMIT,
        to: datetime | str | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.Payment]:
        """List payments. Returns a page of the organisation's payments, optionally those of one
        wallet. Needs the scope `payments:read`.
        """
        return self._list(
            "/api/wallets/payment",
            models.Payment,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "walletId": wallet_id,
                "reference": reference,
                "status": status,
                "settlementStatus": settlement_status,
                "minAmount": min_amount,
                "maxAmount": max_amount,
                "from": from_,
                "to": to,
                "order": order,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def cancel(
        self,
        *,
        payment_id: str,
        memo: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        metadata: dict[str, str] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.CancelledPayment:
        """Cancel a payment. Cancels the whole payment, once. The payer's wallets get back what
        each paid, and the accrual is clawed back. PAY_008 means that a part was refunded:
        refund the rest. PAY_001 means that the available balance of the receiver's wallet is
        lower than the payment. WAL_004 names a deactivated wallet of the payment; the operator
        of this service can reactivate it. A payment can be cancelled for at least two months;
        then its month is archived and PAY_007 is answered. `settlement`, here and in
        `cancellation`, is the cancellation's own and PENDING at first; read the payment for the
        payment's own. Needs the scope `payments:write`.
        """
        return self._call(
            "POST",
            "/api/wallets/payment/cancel",
            models.CancelledPayment,
            body={
                "paymentId": payment_id,
                "memo": memo,
                "reference": reference,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def refund(
        self,
        *,
        payment_id: str,
        amount: int,
        memo: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        metadata: dict[str, str] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RefundedPayment:
        """Refund a part of a payment. Returns a part of a payment, any number of times up to its
        amount. The money goes back in the reverse order of the payment: first what NORMAL paid,
        then INCENTIVE, then GOVERNMENT. The accrual on the returned NORMAL part is clawed back.
        The payer keeps the accrual on the rest of the NORMAL part, rounded down, so all parts
        together are exactly a cancellation. PAY_009 means that less remains. PAY_001, WAL_004
        and PAY_007 mean what they mean for a cancellation. `settlement`, here and in `refund`,
        is the refund's own and PENDING at first; read the payment for the payment's own. Needs
        the scope `payments:write`.
        """
        return self._call(
            "POST",
            "/api/wallets/payment/refund",
            models.RefundedPayment,
            body={
                "paymentId": payment_id,
                "amount": amount,
                "memo": memo,
                "reference": reference,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update_refund(
        self,
        refund_id: str,
        *,
        metadata: dict[str, str | None],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.PaymentRefund:
        """Change the metadata of a payment's refund. Merges pairs into the metadata. Everything
        else stays as it is, in any state of the object. The answer that an Idempotency-Key
        replays keeps the metadata of the request. Needs the scope `payments:write`.
        """
        return self._call(
            "PATCH",
            "/api/wallets/payment/refund/{refundId}",
            models.PaymentRefund,
            ids={"refundId": refund_id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update_cancellation(
        self,
        cancel_id: str,
        *,
        metadata: dict[str, str | None],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.PaymentCancellation:
        """Change the metadata of a payment's cancellation. Merges pairs into the metadata.
        Everything else stays as it is, in any state of the object. The answer that an
        Idempotency-Key replays keeps the metadata of the request. Needs the scope
        `payments:write`.
        """
        return self._call(
            "PATCH",
            "/api/wallets/payment/cancel/{cancelId}",
            models.PaymentCancellation,
            ids={"cancelId": cancel_id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        payment_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.PaymentWithRefunds:
        """Read a payment. Returns one payment with its refunds and, when it is cancelled, its
        cancellation. Needs the scope `payments:read`.
        """
        return self._call(
            "GET",
            "/api/wallets/payment/{paymentId}",
            models.PaymentWithRefunds,
            ids={"paymentId": payment_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update(
        self,
        payment_id: str,
        *,
        metadata: dict[str, str | None],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Payment:
        """Change a payment's metadata. Merges pairs into the metadata. Everything else stays as it
        is, in any state of the object. The answer that an Idempotency-Key replays keeps the
        metadata of the request. Needs the scope `payments:write`.
        """
        return self._call(
            "PATCH",
            "/api/wallets/payment/{paymentId}",
            models.Payment,
            ids={"paymentId": payment_id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class WalletsApi(Resource):
    """Calls of Wallets."""

    def create(
        self,
        *,
        user_id: str,
        wallet_type: models.WalletType,
        metadata: dict[str, str] | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.CreatedWallet:
        """Create a wallet for a user. A user has at most one wallet of each type. A second one is
        refused with WAL_001, and `details.walletId` names the first, also when it is
        deactivated. Needs the scope `wallets:write`.
        """
        return self._call(
            "POST",
            "/api/wallets",
            models.CreatedWallet,
            body={
                "userId": user_id,
                "walletType": wallet_type,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        user_id: str | Omit = OMIT,
        wallet_type: Literal["NORMAL", "INCENTIVE", "GOVERNMENT"] | Omit = OMIT,
        status: Literal["ACTIVE", "DEACTIVATED"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.Wallet]:
        """List wallets, newest first. Returns a page of the organisation's wallets, optionally
        those of one user, type or status. Needs the scope `wallets:read`.
        """
        return self._list(
            "/api/wallets",
            models.Wallet,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "userId": user_id,
                "walletType": wallet_type,
                "status": status,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        wallet_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Wallet:
        """Read a wallet. Returns one wallet with its balances. Needs the scope `wallets:read`."""
        return self._call(
            "GET",
            "/api/wallets/{walletId}",
            models.Wallet,
            ids={"walletId": wallet_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update(
        self,
        wallet_id: str,
        *,
        metadata: dict[str, str],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Wallet:
        """Replace a wallet's metadata. Replaces all pairs of the wallet's metadata. Needs the
        scope `wallets:write`.
        """
        return self._call(
            "PATCH",
            "/api/wallets/{walletId}",
            models.Wallet,
            ids={"walletId": wallet_id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def deactivate(
        self,
        wallet_id: str,
        *,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Wallet:
        """Deactivate a wallet. Refused with WAL_003 while the wallet holds money, holds of
        transfers under way included. Settlements under way continue, and a scheduled
        transaction from the wallet becomes FAILED when it is due. Afterwards the wallet can
        only be read; everything else is WAL_004. Tokens that are sent to its address are still
        credited; the operator of this service can reactivate the wallet so that they can be
        moved. Needs the scope `wallets:write`.
        """
        return self._call(
            "POST",
            "/api/wallets/{walletId}/deactivate",
            models.Wallet,
            ids={"walletId": wallet_id},
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list_transactions(
        self,
        wallet_id: str,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        type: str | Omit = OMIT,
        from_: datetime | str | Omit = OMIT,
        to: datetime | str | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.WalletTransaction]:
        """List the movements of a wallet's balance. Contains deposits, too: tokens from an outside
        address are credited once their block is final, as an entry of type TRANSFER and
        direction IN whose relatedId begins with `opn_`. Deposits are in no list of transfers.
        Only whole KRW are credited. The counterparty of a deposit can be null, and its
        settlement PENDING, for a moment. Needs the scope `wallets:read`.
        """
        return self._list(
            "/api/wallets/{walletId}/transactions",
            models.WalletTransaction,
            ids={"walletId": wallet_id},
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "type": type,
                "from": from_,
                "to": to,
                "order": order,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get_balance(
        self,
        wallet_id: str,
        *,
        at: datetime | str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.BalanceAtTime:
        """Read the balance of a wallet at a time. The balance after all entries that were posted
        before `at`. It equals `balanceAfter` of the newest of these entries, and is 0 before
        the first. A time within the last seconds can still get entries. REQ_001 is answered for
        a time in the future, and for one whose month is archived. Needs the scope
        `wallets:read`.
        """
        return self._call(
            "GET",
            "/api/wallets/{walletId}/balance",
            models.BalanceAtTime,
            ids={"walletId": wallet_id},
            query={
                "at": at,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list_all_transactions(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        type: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        status: Literal["COMPLETED", "CHARGED", "PARTIALLY_CANCELLED", "CANCELLED", "PAID", "PARTIALLY_REFUNDED", "REFUNDED"] | Omit = OMIT,
        settlement_status: Literal["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"] | Omit = OMIT,
        min_amount: int | Omit = OMIT,
        max_amount: int | Omit = OMIT,
        from_: datetime | str | Omit = OMIT,
        to: datetime | str | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.WalletTransaction]:
        """List the movements of all wallets. All ten types over the whole organisation, refunds
        and deposits included, sorted by the order in which they were posted. A payment has an
        entry for each wallet that it moved. A movement is listed as soon as its request is
        answered. `totalCount` is always null. Needs the scope `wallets:read`.
        """
        return self._list(
            "/api/transactions",
            models.WalletTransaction,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "type": type,
                "reference": reference,
                "status": status,
                "settlementStatus": settlement_status,
                "minAmount": min_amount,
                "maxAmount": max_amount,
                "from": from_,
                "to": to,
                "order": order,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class ReportsApi(Resource):
    """Calls of Reports."""

    def read_statements(
        self,
        *,
        from_: datetime | str,
        to: datetime | str | Omit = OMIT,
        wallet_id: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Statements:
        """Download statements of a period. The statement of one wallet, or of each wallet of the
        organisation: the balances at both ends of the period, and all movements between, oldest
        first. The answer is streamed, so its length is not limited. If reading fails, the
        gateway cuts the connection before the end of the JSON or XML document. A CSV file is
        complete when the first cell of its last record is END. Send the request again after a
        cut. camt.053 is ISO 20022 camt.053.001.08. A CSV cell that a spreadsheet would run as a
        formula begins with a quote. REQ_001 is answered for a period whose months are archived.
        Needs the scope `wallets:read`.
        """
        return self._call(
            "GET",
            "/api/reports/statements",
            models.Statements,
            query={
                "from": from_,
                "to": to,
                "walletId": wallet_id,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def read_settlements(
        self,
        *,
        from_: datetime | str,
        to: datetime | str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Settlements:
        """Download the settlements of a period. Each operation that moved money in the period,
        oldest first, with its transaction hash and block. The answer is streamed, so its length
        is not limited. If reading fails, the gateway cuts the connection before the end of the
        JSON or XML document. A CSV file is complete when the first cell of its last record is
        END. Send the request again after a cut. Needs the scope `wallets:read`.
        """
        return self._call(
            "GET",
            "/api/reports/settlements",
            models.Settlements,
            query={
                "from": from_,
                "to": to,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class TransactionsApi(Resource):
    """Calls of Recorded transactions."""

    def create(
        self,
        *,
        from_network_type: models.NetworkType,
        to_network_type: models.NetworkType,
        from_address: str,
        to_address: str,
        amount: str,
        payment_type: Literal["INSTANT", "SCHEDULED"],
        fee: str | Omit = OMIT,
        memo: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        metadata: dict[str, str] | Omit = OMIT,
        tx_hash: str | Omit = OMIT,
        scheduled_at: datetime | str | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RecordedTransaction:
        """Record a transaction. INSTANT records a transaction that is on the chain already.
        SCHEDULED records one that is due later; from a NORMAL wallet of yours the service sends
        it (see the body). The plan counts a SCHEDULED transaction when it is recorded, and not
        again when it is sent. A txHash is recorded once for each fromNetworkType, whatever the
        key: TX_002 names the first record in `details.id`. Sent SCHEDULED transactions can
        share a hash. Needs the scope `transactions:write`.
        """
        return self._call(
            "POST",
            "/api/transaction",
            models.RecordedTransaction,
            body={
                "fromNetworkType": from_network_type,
                "toNetworkType": to_network_type,
                "fromAddress": from_address,
                "toAddress": to_address,
                "amount": amount,
                "fee": fee,
                "memo": memo,
                "reference": reference,
                "metadata": metadata,
                "paymentType": payment_type,
                "txHash": tx_hash,
                "scheduledAt": scheduled_at,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        status: Literal["PENDING", "CONFIRMED", "FAILED"] | Omit = OMIT,
        payment_type: Literal["INSTANT", "SCHEDULED"] | Omit = OMIT,
        address: str | Omit = OMIT,
        reference: str | Omit = OMIT,
        min_amount: str | Omit = OMIT,
        max_amount: str | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        from_: datetime | str | Omit = OMIT,
        to: datetime | str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.RecordedTransaction]:
        """List recorded transactions. Returns a page of the organisation's records, optionally
        filtered. Needs the scope `transactions:read`.
        """
        return self._list(
            "/api/transaction",
            models.RecordedTransaction,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "status": status,
                "paymentType": payment_type,
                "address": address,
                "reference": reference,
                "minAmount": min_amount,
                "maxAmount": max_amount,
                "order": order,
                "from": from_,
                "to": to,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RecordedTransactionWithHistory:
        """Read a recorded transaction with its history. Returns one record with the history of its
        changes. Needs the scope `transactions:read`.
        """
        return self._call(
            "GET",
            "/api/transaction/{id}",
            models.RecordedTransactionWithHistory,
            ids={"id": id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update(
        self,
        id: str,
        *,
        metadata: dict[str, str | None],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RecordedTransaction:
        """Change a recorded transaction's metadata. Merges pairs into the metadata. Everything
        else stays as it is, in any state of the object. The answer that an Idempotency-Key
        replays keeps the metadata of the request. Needs the scope `transactions:write`.
        """
        return self._call(
            "PATCH",
            "/api/transaction/{id}",
            models.RecordedTransaction,
            ids={"id": id},
            body={
                "metadata": metadata,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update_status(
        self,
        id: str,
        *,
        status: models.TransactionStatus,
        failure_reason: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RecordedTransaction:
        """Set a recorded transaction's status. From PENDING to CONFIRMED or FAILED, which are
        final. Setting the same status again changes nothing. To stop a waiting SCHEDULED
        transaction set FAILED; CONFIRMED stops it too, and means that you had it done
        elsewhere. After its transfer started (its history has `sent_as_`) only the chain ends
        it: the change is refused with TX_003. Needs the scope `transactions:write`.
        """
        return self._call(
            "PATCH",
            "/api/transaction/{id}/status",
            models.RecordedTransaction,
            ids={"id": id},
            body={
                "status": status,
                "failureReason": failure_reason,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update_schedule(
        self,
        id: str,
        *,
        scheduled_at: datetime | str,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RecordedTransaction:
        """Change the due time of a SCHEDULED transaction. Setting the current due time again
        changes nothing. TX_004 when the record is not SCHEDULED, not PENDING, or its transfer
        started (its history has `sent_as_`). Needs the scope `transactions:write`.
        """
        return self._call(
            "PATCH",
            "/api/transaction/{id}/schedule",
            models.RecordedTransaction,
            ids={"id": id},
            body={
                "scheduledAt": scheduled_at,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class SandboxApi(Resource):
    """Calls of Sandbox."""

    def create_deposit(
        self,
        *,
        wallet_id: str,
        amount: int,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.SandboxDeposit:
        """Receive a deposit. Sends tokens on the chain from an address outside to a wallet of
        yours, and waits up to 20 seconds for a block. The wallet is credited when the block is
        final (`deposit.credited`). Needs the scope `sandbox:write`.
        """
        return self._call(
            "POST",
            "/api/sandbox/deposits",
            models.SandboxDeposit,
            body={
                "walletId": wallet_id,
                "amount": amount,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def fail_settlement(
        self,
        id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.SandboxSettlement:
        """Fail a settlement. Lets a held transfer to an outside address fail. It is FAILED, and
        its money is available again, once a final block proves that it cannot settle. Other
        settlements cannot fail, because the money has moved already: they are held. Needs the
        scope `sandbox:write`.
        """
        return self._call(
            "POST",
            "/api/sandbox/settlements/{id}/fail",
            models.SandboxSettlement,
            ids={"id": id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def hold_settlement(
        self,
        id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.SandboxSettlement:
        """Hold a settlement. Keeps a settlement from being sent until it is released. Later
        settlements of its wallets wait too. Most settlements are sent within a second: use the
        memo `sandbox:settlement_held` to hold one from the start. Needs the scope
        `sandbox:write`.
        """
        return self._call(
            "POST",
            "/api/sandbox/settlements/{id}/hold",
            models.SandboxSettlement,
            ids={"id": id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def release_settlement(
        self,
        id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.SandboxSettlement:
        """Release a settlement. Lets a held settlement go on. Needs the scope `sandbox:write`."""
        return self._call(
            "POST",
            "/api/sandbox/settlements/{id}/release",
            models.SandboxSettlement,
            ids={"id": id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def expire_key(
        self,
        key_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.ExpiredApiKey:
        """Expire an API key. Ends the life of a key now. It can be refreshed, as any expired key.
        Needs the scope `sandbox:write`.
        """
        return self._call(
            "POST",
            "/api/sandbox/keys/{keyId}/expire",
            models.ExpiredApiKey,
            ids={"keyId": key_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def open_clock(
        self,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.SandboxClock:
        """Read the test clock. Returns the test clock of your organisation. Before its first
        advance it shows the real time. Needs the scope `sandbox:write`.
        """
        return self._call(
            "POST",
            "/api/sandbox/clocks",
            models.SandboxClock,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def advance_clock(
        self,
        *,
        to: datetime | str,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.SandboxClock:
        """Advance the test clock. Moves the clock forward. The 30 days of cancellations, daily
        limits, scheduled transfers, ends of API keys and retries of webhooks follow it from the
        answer on. It never goes back: an earlier time changes nothing. An advance can expire
        the key that you use: refresh it then. Needs the scope `sandbox:write`.
        """
        return self._call(
            "POST",
            "/api/sandbox/clocks/advance",
            models.SandboxClock,
            body={
                "to": to,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class EventsApi(Resource):
    """Calls of Events."""

    def list(
        self,
        *,
        after: str | Omit = OMIT,
        types: str | Omit = OMIT,
        object_id: str | Omit = OMIT,
        order: Literal["asc", "desc"] | Omit = OMIT,
        limit: int | Omit = OMIT,
        wait: int | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.EventPage:
        """List events. Returns the events after the sequence `after`, oldest first. With `wait`
        the request waits until there is one. Continue with `after` = `pagination.nextAfter`,
        even after an empty answer: it skips the events that the filters exclude. EVT_002 means
        that events after `after` have been deleted: read your objects again, then continue with
        `after` = `details.oldestAfter`. Needs the scope `events:read`.
        """
        return self._call(
            "GET",
            "/api/events",
            models.EventPage,
            query={
                "after": after,
                "types": types,
                "objectId": object_id,
                "order": order,
                "limit": limit,
                "wait": wait,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        event_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Event:
        """Read an event. Returns one event. Events are kept for 30 days. Needs the scope
        `events:read`.
        """
        return self._call(
            "GET",
            "/api/events/{eventId}",
            models.Event,
            ids={"eventId": event_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class WebhooksApi(Resource):
    """Calls of Webhooks."""

    def create(
        self,
        *,
        url: str,
        event_types: Sequence[Literal["wallet.created", "wallet.updated", "wallet.deactivated", "wallet.frozen", "charge.created", "charge.cancelled", "refund.created", "transfer.created", "transfer.completed", "transfer.failed", "payment.created", "payment.cancelled", "payment.refunded", "payout.created", "payout.progressed", "payout.completed", "settlement.confirmed", "settlement.failed", "deposit.credited", "transaction.status_changed", "api_key.issued", "api_key.expiring", "webhook.failing", "webhook.disabled"]] | Omit = OMIT,
        description: str | Omit = OMIT,
        status: models.WebhookStatus | Omit = OMIT,
        ordering: models.WebhookOrdering | Omit = OMIT,
        after: str | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.CreatedWebhook:
        """Create a webhook. Events are sent to the URL by POST, signed as Standard Webhooks 1.0.
        The answer is the only one with the `secret`; a repetition with the same Idempotency-Key
        shows it again. WHK_002 names in `details.reason` why the URL is not allowed. Needs the
        scope `webhooks:write`.
        """
        return self._call(
            "POST",
            "/api/webhooks",
            models.CreatedWebhook,
            body={
                "url": url,
                "eventTypes": event_types,
                "description": description,
                "status": status,
                "ordering": ordering,
                "after": after,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list(
        self,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.Webhook]:
        """List webhooks, newest first. Returns a page of the organisation's webhooks. Needs the
        scope `webhooks:read`.
        """
        return self._list(
            "/api/webhooks",
            models.Webhook,
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def get(
        self,
        webhook_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Webhook:
        """Read a webhook. Returns one webhook, without its secret. Needs the scope
        `webhooks:read`.
        """
        return self._call(
            "GET",
            "/api/webhooks/{webhookId}",
            models.Webhook,
            ids={"webhookId": webhook_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def update(
        self,
        webhook_id: str,
        *,
        url: str | Omit = OMIT,
        event_types: Sequence[Literal["wallet.created", "wallet.updated", "wallet.deactivated", "wallet.frozen", "charge.created", "charge.cancelled", "refund.created", "transfer.created", "transfer.completed", "transfer.failed", "payment.created", "payment.cancelled", "payment.refunded", "payout.created", "payout.progressed", "payout.completed", "settlement.confirmed", "settlement.failed", "deposit.credited", "transaction.status_changed", "api_key.issued", "api_key.expiring", "webhook.failing", "webhook.disabled"]] | Omit = OMIT,
        description: str | Omit = OMIT,
        status: models.WebhookStatus | Omit = OMIT,
        ordering: models.WebhookOrdering | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Webhook:
        """Change a webhook. Changes the fields that are given. When a webhook is enabled again,
        the events that waited are sent. Needs the scope `webhooks:write`.
        """
        return self._call(
            "PATCH",
            "/api/webhooks/{webhookId}",
            models.Webhook,
            ids={"webhookId": webhook_id},
            body={
                "url": url,
                "eventTypes": event_types,
                "description": description,
                "status": status,
                "ordering": ordering,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def delete(
        self,
        webhook_id: str,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.DeletedWebhook:
        """Delete a webhook. Deletes the webhook with its deliveries. An attempt under way may
        still arrive. Needs the scope `webhooks:write`.
        """
        return self._call(
            "DELETE",
            "/api/webhooks/{webhookId}",
            models.DeletedWebhook,
            ids={"webhookId": webhook_id},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def rotate_secret(
        self,
        webhook_id: str,
        *,
        overlap_seconds: int | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.RotatedWebhook:
        """Give a webhook a new secret. Deliveries are signed with the new secret and, until the
        overlap ends, with the previous secret too. Needs the scope `webhooks:write`.
        """
        return self._call(
            "POST",
            "/api/webhooks/{webhookId}/rotate-secret",
            models.RotatedWebhook,
            ids={"webhookId": webhook_id},
            body={
                "overlapSeconds": overlap_seconds,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def test(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Delivery:
        """Send a test to a webhook. Sends an event of type webhook.test, also while the webhook is
        DISABLED. The list of deliveries shows its outcome. Needs the scope `webhooks:write`.
        """
        return self._call(
            "POST",
            "/api/webhooks/{webhookId}/test",
            models.Delivery,
            ids={"webhookId": webhook_id},
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def replay(
        self,
        webhook_id: str,
        *,
        after: str | Omit = OMIT,
        up_to: str | Omit = OMIT,
        failed: bool | Omit = OMIT,
        idempotency_key: str | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.ReplayedWebhook:
        """Deliver events again. Delivers the kept events of a range again, or at once the
        deliveries that FAILED or pause after a failed attempt. At most 10000 deliveries follow
        from one request: go on behind the last one. The header `webhook-id` is the same as
        before. Needs the scope `webhooks:write`.
        """
        return self._call(
            "POST",
            "/api/webhooks/{webhookId}/replay",
            models.ReplayedWebhook,
            ids={"webhookId": webhook_id},
            body={
                "after": after,
                "upTo": up_to,
                "failed": failed,
            },
            idempotency_key=idempotency_key,
            is_keyed=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def list_deliveries(
        self,
        webhook_id: str,
        *,
        limit: int | Omit = OMIT,
        current_page: int | Omit = OMIT,
        cursor: str | Omit = OMIT,
        status: Literal["PENDING", "DELIVERED", "FAILED"] | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[models.Delivery]:
        """List the deliveries of a webhook, newest first. Returns a page of deliveries with their
        attempts. Finished deliveries are kept for 30 days. Needs the scope `webhooks:read`.
        """
        return self._list(
            "/api/webhooks/{webhookId}/deliveries",
            models.Delivery,
            ids={"webhookId": webhook_id},
            query={
                "limit": limit,
                "currentPage": current_page,
                "cursor": cursor,
                "status": status,
            },
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class ServiceApi(Resource):
    """Calls of Service."""

    def check_health(
        self,
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> models.Health:
        """Check that the gateway is alive. Tells only that this process answers. It checks no
        other service, needs no key and is not limited.
        """
        return self._call(
            "GET",
            "/healthz",
            models.Health,
            is_open=True,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class Resources:
    """All resources of a client."""

    def __init__(self, transport: Transport) -> None:
        self.auth = AuthApi(transport)
        """Calls of Authentication."""
        self.keys = KeysApi(transport)
        """Calls of API keys."""
        self.transfers = TransfersApi(transport)
        """Calls of Transfers."""
        self.payouts = PayoutsApi(transport)
        """Calls of Payouts."""
        self.charges = ChargesApi(transport)
        """Calls of Charges."""
        self.payments = PaymentsApi(transport)
        """Calls of Payments."""
        self.wallets = WalletsApi(transport)
        """Calls of Wallets."""
        self.reports = ReportsApi(transport)
        """Calls of Reports."""
        self.transactions = TransactionsApi(transport)
        """Calls of Recorded transactions."""
        self.sandbox = SandboxApi(transport)
        """Calls of Sandbox."""
        self.events = EventsApi(transport)
        """Calls of Events."""
        self.webhooks = WebhooksApi(transport)
        """Calls of Webhooks."""
        self.service = ServiceApi(transport)
        """Calls of Service."""
