"""Errors of the library. Decide by class or by `code`: messages may change."""

from __future__ import annotations

from typing import Any

from ._contract import ERROR_CODES

CLIENT_CODES = {
    "SDK_001": ("connection", True, "The service could not be reached, or the connection broke."),
    "SDK_002": ("timeout", True, "The service did not answer in time."),
    "SDK_004": (
        "bad_answer",
        False,
        "The response does not come from the service. Check the base_url and proxies.",
    ),
    "SDK_006": ("configuration", False, "The client is not configured correctly."),
}


class ServiceError(Exception):
    """The base of all errors of the library."""

    code: str
    """The error code. An unknown code is of a newer service: treat it by its class."""
    message: str
    """The cause and the remedy."""
    status: int | None
    """The HTTP status of the answer, if one came."""
    details: dict[str, Any] | None
    """Facts about the error. `details["fields"]` lists invalid fields."""
    request_id: str | None
    """The id of the request, for support. None when a check refused the call before sending."""
    idempotency_key: str | None
    """The key of the request. A repetition with it cannot move money twice."""
    retry_after_seconds: float | None
    """The delay that the service asks for before the next attempt."""
    retryable: bool
    """True when the same request may succeed later."""
    outcome_unknown: bool
    """True when the call may have been executed. Repeat it with `idempotency_key`, or read the state."""
    replayed: bool
    """True when the refusal was stored for the key. After the cause is removed, use a new key."""

    def __init__(
        self,
        code: str,
        message: str | None = None,
        *,
        status: int | None = None,
        details: dict[str, Any] | None = None,
        request_id: str | None = None,
        idempotency_key: str | None = None,
        retry_after_seconds: float | None = None,
        retryable: bool | None = None,
        outcome_unknown: bool = False,
        replayed: bool = False,
    ) -> None:
        meaning = ERROR_CODES.get(code) or CLIENT_CODES.get(code)
        self.code = code
        self.message = message or (meaning[2] if meaning else "The service refused the request.")
        super().__init__(self.message)
        self.status = status
        self.details = details
        self.request_id = request_id
        self.idempotency_key = idempotency_key
        self.retry_after_seconds = retry_after_seconds
        self.retryable = (meaning[1] if meaning else False) if retryable is None else retryable
        self.outcome_unknown = outcome_unknown
        self.replayed = replayed

    def __str__(self) -> str:
        request = "" if self.request_id is None else f" (request_id {self.request_id})"
        return f"{self.code}: {self.message}{_describe_fields(self.details)}{request}"


class AuthenticationError(ServiceError):
    """The API key is not valid (WAUTH_001) or has expired (WAUTH_002)."""


class PermissionDeniedError(ServiceError):
    """The subscription, the plan or the scopes of the key do not allow the call."""


class NotFoundError(ServiceError):
    """The object does not exist, or belongs to another organisation."""


class ConflictError(ServiceError):
    """The object exists already, or its state does not allow the change."""


class InvalidRequestError(ServiceError):
    """The request is invalid. `details["fields"]` lists the fields."""

    @staticmethod
    def of_field(path: str, message: str) -> InvalidRequestError:
        """An error of a check before sending, with the form of the service's."""
        details = {"fields": [{"path": path, "message": message}]}
        return InvalidRequestError("REQ_001", status=400, details=details)


class RefusedError(ServiceError):
    """A rule refuses the call: low balance, a limit, a deactivated wallet. No balance changed."""


class RateLimitError(ServiceError):
    """Too many requests. Wait for `retry_after_seconds`."""


class ServerError(ServiceError):
    """The service failed. Quote the `request_id` to support."""


class UnavailableError(ServerError):
    """The service is busy and did not execute the call. Call again later."""


class OutcomeUnknownError(ServerError):
    """The call may have been executed. Repeat it with the error's `idempotency_key`."""


class ConnectionFailedError(ServiceError):
    """No answer came. `outcome_unknown` is False when the request was never sent."""


class ConnectionTimeoutError(ConnectionFailedError):
    """No answer came within `timeout_seconds`."""


class BadAnswerError(ServiceError):
    """The response does not come from the service, but from a proxy or another server."""


class ConfigurationError(ServiceError):
    """An option of the client is missing or invalid."""


_CLASSES: dict[str, type[ServiceError]] = {
    "authentication": AuthenticationError,
    "permission": PermissionDeniedError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "invalid_request": InvalidRequestError,
    "refused": RefusedError,
    "rate_limit": RateLimitError,
    "server": ServerError,
    "unavailable": UnavailableError,
    "outcome_unknown": OutcomeUnknownError,
    "connection": ConnectionFailedError,
    "timeout": ConnectionTimeoutError,
    "bad_answer": BadAnswerError,
    "configuration": ConfigurationError,
}

_KINDS_BY_STATUS = {
    401: "authentication",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    429: "rate_limit",
    503: "unavailable",
    504: "outcome_unknown",
}


def class_of(code: str, status: int | None) -> type[ServiceError]:
    """Returns the class that fits the code, or the status of an unknown code."""
    meaning = ERROR_CODES.get(code) or CLIENT_CODES.get(code)
    if meaning is not None:
        return _CLASSES[meaning[0]]
    kind = _KINDS_BY_STATUS.get(status or 0)
    return _CLASSES[kind or ("server" if (status or 0) >= 500 else "invalid_request")]


def _describe_fields(details: dict[str, Any] | None) -> str:
    fields = (details or {}).get("fields")
    if not isinstance(fields, list):
        return ""
    named = [f"{one.get('path')} {one.get('message')}" for one in fields if isinstance(one, dict)]
    return "" if not named else f" {'; '.join(named)}."
