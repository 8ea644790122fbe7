"""The client of the Wonrail API."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import BinaryIO, Literal
from urllib.parse import urlsplit

import httpx

from . import models, webhooks
from ._resource import OMIT, Omit
from ._resources import EventsApi, ReportsApi, Resources, WebhooksApi
from ._transport import Settings, Transport
from .errors import ConfigurationError

STREAM_LIMIT = 100
STREAM_WAIT_SECONDS = 20
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class StreamedEventsApi(EventsApi):
    """Events of wallets, money, records and keys, in one order."""

    def stream(
        self,
        *,
        after: str | Omit = OMIT,
        types: str | Sequence[str] | Omit = OMIT,
        object_id: str | Omit = OMIT,
    ) -> Iterator[models.Event]:
        """Yields the events behind `after` and then each new one, until the caller leaves the loop.

        Store the `sequence` of the last handled event, to go on with it as `after`.
        """
        position = after
        wanted = types if isinstance(types, str) or types is OMIT else ",".join(types)
        while True:
            page = self.list(
                after=position,
                types=wanted,
                object_id=object_id,
                limit=STREAM_LIMIT,
                wait=STREAM_WAIT_SECONDS,
                timeout_seconds=STREAM_WAIT_SECONDS + 10,
            )
            yield from page.items
            position = page.pagination.next_after


class DownloadedReportsApi(ReportsApi):
    """Statements and settlements of a period."""

    def download_statements(
        self,
        file: BinaryIO,
        *,
        from_: datetime,
        to: datetime | Omit = OMIT,
        wallet_id: str | Omit = OMIT,
        format: Literal["csv", "camt053"],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> None:
        """Writes the statements of a period into a file that is open for bytes.

        Raises when the answer is cut. Then the file is not complete.
        """
        self._download(
            "/api/reports/statements",
            file,
            {"from": from_, "to": to, "walletId": wallet_id, "format": format},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )

    def download_settlements(
        self,
        file: BinaryIO,
        *,
        from_: datetime,
        to: datetime | Omit = OMIT,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> None:
        """Writes the settlements of a period as CSV into a file that is open for bytes.

        Raises when the answer is cut. Then the file is not complete.
        """
        self._download(
            "/api/reports/settlements",
            file,
            {"from": from_, "to": to, "format": "csv"},
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )


class VerifiedWebhooksApi(WebhooksApi):
    """Endpoints that get events pushed."""

    def unwrap(self, body: bytes | str, headers: Mapping[str, str], secret: str) -> models.Event:
        """Verifies a delivery and returns its event. Give the body exactly as it arrived."""
        return webhooks.unwrap(body, headers, secret)


class Client(Resources):
    """A client of the Wonrail API. Create one per API key and share it between threads."""

    events: StreamedEventsApi
    """Events of the organisation, in one order."""
    reports: DownloadedReportsApi
    """Statements and settlements of a period."""
    webhooks: VerifiedWebhooksApi
    """Endpoints that get events pushed."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        org_code: str | None = None,
        timeout_seconds: float = 30.0,
        max_retries: int = 2,
        http: httpx.Client | None = None,
        dangerously_allow_http: bool = False,
    ) -> None:
        """Reads WONRAIL_BASE_URL, WONRAIL_API_KEY and WONRAIL_ORG_CODE for what is left out.

        `http` sets proxies, certificates and pools. The client closes it.
        """
        url = _required("base_url", base_url, "WONRAIL_BASE_URL").rstrip("/")
        _check_url(url, dangerously_allow_http)
        settings = Settings(
            base_url=url,
            api_key=_required("api_key", api_key, "WONRAIL_API_KEY"),
            org_code=org_code or os.environ.get("WONRAIL_ORG_CODE"),
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
        )
        self._transport = Transport(settings, http or httpx.Client())
        super().__init__(self._transport)
        self.events = StreamedEventsApi(self._transport)
        self.reports = DownloadedReportsApi(self._transport)
        self.webhooks = VerifiedWebhooksApi(self._transport)

    def close(self) -> None:
        """Closes the connections."""
        self._transport.http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        """Leaves out the API key."""
        return f"Client(base_url={self._transport.settings.base_url!r})"


def _required(name: str, given: str | None, variable: str) -> str:
    value = given or os.environ.get(variable)
    if value:
        return value
    raise ConfigurationError("SDK_006", f"{name} is missing: give it, or set {variable}.")


def _check_url(url: str, is_http_allowed: bool) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError("SDK_006", "base_url must start with https:// and a host.")
    if parts.scheme == "http" and parts.hostname not in LOCAL_HOSTS and not is_http_allowed:
        message = "base_url must be https: the network can read a key that http carries."
        raise ConfigurationError("SDK_006", message)
