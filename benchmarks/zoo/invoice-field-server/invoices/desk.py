"""Keeps the streams of clients, so that one may ask for more of the same invoice."""

from __future__ import annotations

from typing import Any, AsyncGenerator, Protocol


class Reader(Protocol):
    def fields(self, page: Any) -> AsyncGenerator: ...


class Desk:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.streams: dict[str, AsyncGenerator] = {}

    async def open(self, ticket: str, page: Any) -> None:
        self.streams[ticket] = self.reader.fields(page)

    async def until(self, ticket: str, wanted: str) -> Any:
        async for name, where in self.streams[ticket]:
            if name == wanted:
                return where
        return None

    async def done(self, ticket: str) -> None:
        """The client has what it wants."""
