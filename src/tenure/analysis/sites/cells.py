"""The cells of a notebook or prompt, which have one namespace for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tenure.analysis.heap.cells import cell_kind
from tenure.model.source import SourceFile


def other_cells(path: str, sources: Mapping[str, SourceFile]) -> Iterator[tuple[str, SourceFile]]:
    """The cells that ran beside the one of this path, each text once; none where the path is no cell's."""
    kind = cell_kind(path)
    told = {sources[path].text}
    for other, source in sources.items() if kind else ():
        if cell_kind(other) == kind and source.text not in told:
            told.add(source.text)
            yield other, source
