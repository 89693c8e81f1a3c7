"""How far the best wrong tracks come up to the right one, by genre of the playlist."""

from __future__ import annotations

from collections import defaultdict

import torch


class MarginBook:
    def __init__(self, best: int = 6) -> None:
        self.best = best
        self.by_genre: dict[int, list[torch.Tensor]] = defaultdict(list)

    @torch.no_grad()
    def note(self, scores: torch.Tensor, genre: torch.Tensor) -> None:
        margins = scores.sub(scores.diagonal()[:, None]).sort(dim=1, descending=True).values
        first = int(genre[0])
        self.by_genre[first].append(margins[0, : self.best])

    def table(self) -> dict[int, float]:
        return {genre: float(torch.stack(rows).mean()) for genre, rows in sorted(self.by_genre.items())}
