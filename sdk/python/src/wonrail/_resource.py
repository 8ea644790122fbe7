"""The base of every resource: it turns a call into a request, and an answer into objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from enum import Enum
from typing import Any, BinaryIO, Final, Literal, TypeVar
from urllib.parse import quote

from ._decode import decode
from ._page import Page
from ._transport import Repeat, Request, Transport
from .errors import InvalidRequestError

T = TypeVar("T")


class _Omit(Enum):
    OMIT = "OMIT"

    def __repr__(self) -> str:
        return "OMIT"


Omit = Literal[_Omit.OMIT]
"""The type of an argument that was left out."""
OMIT: Final = _Omit.OMIT
"""Leaves an argument out. None is a value of its own."""


class Resource:
    """Calls of one resource."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(
        self,
        method: str,
        path: str,
        answer: type[T],
        *,
        ids: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        is_keyed: bool = False,
        idempotency_key: str | Omit = OMIT,
        is_open: bool = False,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> T:
        request = Request(
            method=method,
            path=_fill(path, ids or {}),
            query=_query(query or {}),
            body=None if body is None else _body(body),
            repeat=_repeat(method, is_keyed),
            is_open=is_open,
            idempotency_key=None if idempotency_key is OMIT else _key(idempotency_key),
            timeout_seconds=None if timeout_seconds is OMIT else timeout_seconds,
            max_retries=None if max_retries is OMIT else max_retries,
        )
        return decode(answer, self._transport.send(request))

    def _download(
        self,
        path: str,
        file: BinaryIO,
        query: Mapping[str, Any],
        *,
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> None:
        request = Request(
            method="GET",
            path=path,
            query=_query(query),
            body=None,
            repeat="safe",
            is_open=False,
            idempotency_key=None,
            timeout_seconds=None if timeout_seconds is OMIT else timeout_seconds,
            max_retries=None if max_retries is OMIT else max_retries,
            write=file.write,
        )
        self._transport.send(request)

    def _list(
        self,
        path: str,
        item: type[T],
        *,
        ids: Mapping[str, str] | None = None,
        query: Mapping[str, Any],
        timeout_seconds: float | Omit = OMIT,
        max_retries: int | Omit = OMIT,
    ) -> Page[T]:
        def read(part: Mapping[str, Any]) -> Page[T]:
            data = self._call(
                "GET",
                path,
                dict[str, Any],
                ids=ids,
                query={**query, **part},
                timeout_seconds=timeout_seconds,
                max_retries=max_retries,
            )
            return Page(data, item, lambda cursor: read({"cursor": cursor, "currentPage": OMIT}))

        return read({})


def _repeat(method: str, is_keyed: bool) -> Repeat:
    if is_keyed:
        return "keyed"
    return "safe" if method in ("GET", "PATCH") else "once"


def _fill(path: str, ids: Mapping[str, str]) -> str:
    """Refuses an empty id and an id of dots, which would lead to another path."""
    for name, value in ids.items():
        if not isinstance(value, str) or value.strip(".") == "":
            raise InvalidRequestError.of_field(name, "must be an id")
        path = path.replace("{" + name + "}", quote(value, safe=""))
    return path


def _query(query: Mapping[str, Any]) -> dict[str, str]:
    """Refuses None: a filter that is left out would list more than the caller knows."""
    given = {name: value for name, value in query.items() if value is not OMIT}
    for name, value in given.items():
        if value is None:
            raise InvalidRequestError.of_field(name, "is None: leave it out, or give a value")
    return {name: _text(value) for name, value in given.items()}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(str(one) for one in value)
    return str(value)


def _body(value: Any) -> Any:
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, Mapping):
        return {name: _body(one) for name, one in value.items() if one is not OMIT}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_body(one) for one in value]
    return value


def _moment(value: datetime) -> str:
    """A time without a zone could mean another moment."""
    if value.tzinfo is None:
        raise InvalidRequestError.of_field("(time)", "must have a time zone, such as timezone.utc")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _key(key: str) -> str:
    """HTTP removes spaces at the ends, which would make two keys equal."""
    is_fit = isinstance(key, str) and key.isascii() and key.isprintable() and key.strip() == key
    if is_fit and 1 <= len(key) <= 255:
        return key
    message = "must be 1 to 255 printable ASCII characters, without spaces at its ends"
    raise InvalidRequestError.of_field("(header) Idempotency-Key", message)
