"""Makes typed objects of JSON values. Fields that this version does not know are left out."""

from __future__ import annotations

import dataclasses
import re
import types
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def decode(type_: type[T], value: Any) -> T:
    """Returns the value as the type says. A missing optional field is None."""
    return cast(T, _decode(type_, value))


def _decode(type_: Any, value: Any) -> Any:
    if value is None:
        return None
    origin = get_origin(type_)
    if origin in (Union, types.UnionType):
        return _decode(next(one for one in get_args(type_) if one is not type(None)), value)
    if origin is list and isinstance(value, list):
        return [_decode(get_args(type_)[0], one) for one in value]
    if type_ is datetime and isinstance(value, str):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    if isinstance(type_, type) and dataclasses.is_dataclass(type_) and isinstance(value, dict):
        hints = _hints(type_)
        return type_(**{name: _decode(hint, value.get(json)) for name, json, hint in hints})
    return value


@cache
def _hints(type_: Any) -> list[tuple[str, str, Any]]:
    hints = get_type_hints(type_)
    return [(field.name, camel_case(field.name), hints[field.name]) for field in dataclasses.fields(type_)]


def camel_case(name: str) -> str:
    """Returns the JSON name of a field: `payer_wallet_id` is `payerWalletId`."""
    return re.sub(r"_([a-z0-9])", lambda match: match.group(1).upper(), name.removesuffix("_"))
