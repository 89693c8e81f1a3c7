"""Previews by number, for as long as somebody shows them."""

from __future__ import annotations

import weakref

import torch


class Preview:
    def __init__(self, number: int, picture: torch.Tensor) -> None:
        self.number = number
        self.picture = picture

    def __repr__(self) -> str:
        return f"<preview {self.number}: {self.picture.std():.3f}>"


class Gallery:
    def __init__(self) -> None:
        self._by_number: weakref.WeakValueDictionary[int, Preview] = weakref.WeakValueDictionary()

    def add(self, number: int, picture: torch.Tensor) -> Preview:
        preview = self._by_number[number] = Preview(number, picture)
        return preview

    def __len__(self) -> int:
        return len(self._by_number)


class Strip:
    """The last few previews, as the page shows them."""

    def __init__(self, length: int = 3) -> None:
        self.length = length
        self.shown: tuple[Preview, ...] = ()

    def show(self, preview: Preview) -> None:
        self.shown = (*self.shown, preview)[-self.length :]
