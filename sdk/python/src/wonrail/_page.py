"""Pages of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from ._decode import decode
from .models import Pagination

T = TypeVar("T")


class Page(Generic[T]):
    """One page of a list. Iterating over it yields its items and those of all later pages."""

    items: list[T]
    """The items of this page."""
    pagination: Pagination
    """The position of the page."""

    def __init__(self, data: dict[str, Any], item: type[T], read: Callable[[str], Page[T]]) -> None:
        self.items = [decode(item, one) for one in data["items"]]
        self.pagination = decode(Pagination, data["pagination"])
        self._read = read

    def next_page(self) -> Page[T] | None:
        """Reads the next page. Returns None after the last one."""
        cursor = self.pagination.next_cursor
        return None if cursor is None else self._read(cursor)

    def __iter__(self) -> Iterator[T]:
        page: Page[T] | None = self
        while page is not None:
            yield from page.items
            page = page.next_page()
