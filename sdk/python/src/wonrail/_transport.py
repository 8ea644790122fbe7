"""Sends requests with time limits, idempotency keys and retries."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from ._contract import API_VERSION
from ._version import VERSION
from .errors import OutcomeUnknownError, ServerError, ServiceError, class_of

Repeat = Literal["safe", "keyed", "once"]
"""`once`: not repeated if it may have been executed. `keyed`: repeatable by its idempotency key."""

FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 8.0
MAX_RETRY_AFTER_SECONDS = 60.0
"""A longer Retry-After ends the call; the error carries the delay."""
RETRIED_STATUSES = (408, 429, 502, 503, 504)
NOT_FORWARDED_STATUSES = (400, 401, 404, 405, 413, 414, 429, 431)
"""A proxy with these statuses has not passed the request on."""
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@dataclass(frozen=True, kw_only=True)
class Request:
    """One call, before its attempts."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    repeat: Repeat
    is_open: bool
    idempotency_key: str | None
    timeout_seconds: float | None
    max_retries: int | None
    write: Callable[[bytes], Any] | None = None
    """Takes the bytes of an answer that is a file."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a client."""

    base_url: str
    api_key: str
    org_code: str | None
    timeout_seconds: float
    max_retries: int


@dataclass(frozen=True, kw_only=True)
class _Failure:
    error: ServiceError
    was_not_executed: bool
    """True when this attempt was not executed. Earlier attempts may have been."""


class Transport:
    """Sends requests. Threads may share it."""

    def __init__(
        self,
        settings: Settings,
        http: httpx.Client,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self.http = http
        self._sleep = sleep

    def send(self, request: Request) -> Any:
        """Returns the data of the answer. All attempts share one idempotency key and one request id."""
        key = request.idempotency_key
        if request.repeat == "keyed" and key is None:
            key = str(uuid.uuid4())
        max_retries = self.settings.max_retries if request.max_retries is None else request.max_retries
        request_id = str(uuid.uuid4())
        # Encoded before the first attempt, because a key stands for one body.
        content = None if request.body is None else json.dumps(request.body)
        is_change = request.method != "GET"
        is_earlier_open = False
        retries = 0
        while True:
            answer = self._attempt(request, content, key, request_id)
            if not isinstance(answer, _Failure):
                return answer
            error = answer.error
            may_repeat = request.repeat != "once" or answer.was_not_executed
            if retries >= max_retries or not may_repeat or not _is_retried(error):
                is_repeatable = is_change and request.repeat != "once"
                raise _final_error(answer, is_earlier_open) if is_repeatable else error
            # Only an answer to the request itself can settle the outcome now.
            is_earlier_open = is_earlier_open or (is_change and not answer.was_not_executed)
            self._sleep(_delay_seconds(retries, error.retry_after_seconds))
            retries += 1

    def _attempt(
        self, request: Request, content: str | None, key: str | None, request_id: str
    ) -> Any | _Failure:
        timeout = request.timeout_seconds
        try:
            with self.http.stream(
                request.method,
                f"{self.settings.base_url}{request.path}",
                params=request.query,
                content=content,
                headers=self._headers(request, content, key, request_id),
                timeout=self.settings.timeout_seconds if timeout is None else timeout,
                # A redirect would carry the API key to another server.
                follow_redirects=False,
            ) as response:
                if request.write is not None and response.is_success:
                    _save(response, request, request.write, request_id)
                    return None
                response.read()
                return _read(response, request, key, request_id)
        except httpx.TransportError as cause:
            return self._no_answer(request, cause, key, request_id)

    def _headers(
        self, request: Request, content: str | None, key: str | None, request_id: str
    ) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "User-Agent": f"wonrail-python/{VERSION}",
            "Wonrail-Version": API_VERSION,
            "X-Request-Id": request_id,
        }
        if content is not None:
            headers["Content-Type"] = "application/json"
        if not request.is_open:
            headers["X-API-Key"] = self.settings.api_key
            if self.settings.org_code is not None:
                headers["X-Org-Code"] = self.settings.org_code
        if key is not None:
            headers["Idempotency-Key"] = key
        return headers

    def _no_answer(
        self, request: Request, cause: httpx.TransportError, key: str | None, request_id: str
    ) -> _Failure:
        was_never_sent = isinstance(cause, NEVER_SENT)
        code = "SDK_002" if isinstance(cause, httpx.TimeoutException) else "SDK_001"
        is_open = request.method != "GET" and not was_never_sent
        # The query may hold personal data.
        target = f"{request.method} {self.settings.base_url}{request.path}"
        what = "was not sent" if was_never_sent else "got no answer"
        advice = (
            " The call may have been executed: repeat it with its idempotency_key, or read the state first."
            if is_open
            else ""
        )
        error = class_of(code, None)(
            code,
            f"{target} {what}: {cause or type(cause).__name__}.{advice}",
            request_id=request_id,
            idempotency_key=key,
            outcome_unknown=is_open,
        )
        error.__cause__ = cause
        return _Failure(error=error, was_not_executed=was_never_sent)


def _save(
    response: httpx.Response, request: Request, write: Callable[[bytes], Any], request_id: str
) -> None:
    """Raises when the answer is cut. A retry would write the first part twice."""
    try:
        for part in response.iter_bytes():
            write(part)
    except httpx.TransportError as cause:
        message = f"The answer to {request.method} {request.path} was cut: what was written is not complete."
        raise class_of("SDK_001", None)("SDK_001", message, request_id=request_id) from cause


def _read(response: httpx.Response, request: Request, key: str | None, request_id: str) -> Any | _Failure:
    """Returns the data of a success, or the failure of any other response."""
    envelope = _envelope(response)
    if envelope is not None and envelope["success"] is True and response.is_success:
        return envelope["data"]
    is_change = request.method != "GET"
    refusal = (envelope or {}).get("error")
    status = response.status_code
    if isinstance(refusal, dict) and isinstance(refusal.get("code"), str):
        code = refusal["code"]
        was_not_executed = code in ("SYS_002", "SYS_004", "RATE_001") or code.startswith("WAUTH_")
        is_failure = code == "REQ_002" or issubclass(class_of(code, status), ServerError)
        is_open = is_failure and not was_not_executed
        error = class_of(code, status)(
            code,
            refusal.get("message"),
            status=status,
            details=refusal.get("details"),
            request_id=(envelope or {}).get("requestId", request_id),
            idempotency_key=key,
            retry_after_seconds=_retry_after(response),
            outcome_unknown=is_change and is_open,
            replayed=response.headers.get("Idempotent-Replayed") == "true",
        )
        return _Failure(error=error, was_not_executed=was_not_executed)
    # A proxy answered with a page of its own. Only its status is meaningful.
    was_not_executed = status in NOT_FORWARDED_STATUSES
    error = class_of("SDK_004", status)(
        "SDK_004",
        status=status,
        details={"status": status, "contentType": response.headers.get("Content-Type")},
        request_id=response.headers.get("X-Request-Id", request_id),
        idempotency_key=key,
        retry_after_seconds=_retry_after(response),
        retryable=status in RETRIED_STATUSES,
        outcome_unknown=is_change and not was_not_executed,
    )
    return _Failure(error=error, was_not_executed=was_not_executed)


def _envelope(response: httpx.Response) -> dict[str, Any] | None:
    try:
        parsed = response.json()
    except ValueError:
        return None
    is_envelope = isinstance(parsed, dict) and isinstance(parsed.get("success"), bool)
    return parsed if is_envelope else None


def _retry_after(response: httpx.Response) -> float | None:
    header: str = response.headers.get("Retry-After", "")
    return float(header) if header.isascii() and header.isdigit() else None


def _is_retried(error: ServiceError) -> bool:
    """True when a retry can help. The caller decides whether the request may be repeated."""
    if error.code in ("SDK_001", "SDK_002"):
        return True
    if (error.retry_after_seconds or 0) > MAX_RETRY_AFTER_SECONDS:
        return False
    # An earlier attempt with the same key is still running. A retry gets its answer.
    return error.code == "REQ_002" or error.status in RETRIED_STATUSES


def _delay_seconds(retries: int, retry_after_seconds: float | None) -> float:
    """Doubles each time, with jitter to spread clients, and never below Retry-After."""
    backoff: float = min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2**retries)
    jitter = random.random()
    return max(backoff * (0.5 + jitter / 2), (retry_after_seconds or 0) * (1 + jitter / 10))


def _final_error(last: _Failure, is_earlier_open: bool) -> ServiceError:
    """The error that ends a repeatable call. An open outcome must not look like a refusal."""
    error = last.error
    if error.code == "SDK_004" and not last.was_not_executed:
        return _outcome_unknown(error)
    is_about_last_attempt = last.was_not_executed or isinstance(error, ServerError)
    if is_earlier_open and is_about_last_attempt and not isinstance(error, OutcomeUnknownError):
        return _outcome_unknown(error)
    return error


def _outcome_unknown(last: ServiceError) -> ServiceError:
    error = OutcomeUnknownError(
        "SYS_003",
        "The outcome is not known. The same call is safe to repeat."
        if last.idempotency_key is None
        else None,
        request_id=last.request_id,
        idempotency_key=last.idempotency_key,
        retry_after_seconds=last.retry_after_seconds,
        outcome_unknown=True,
    )
    error.__cause__ = last
    return error
