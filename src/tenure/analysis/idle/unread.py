"""Which variables of running functions nobody reads again, as far as the recorded text of the program tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePath

import numpy as np

from tenure.analysis.heap.graph import Bools
from tenure.analysis.heap.groups import View
from tenure.analysis.sites.class_search import class_family
from tenure.model.heap import NodeKind, ReferenceKind
from tenure.model.source import SourceFile
from tenure.syntax.text.later_reads import is_read_later, runs_in_loop
from tenure.syntax.text.scopes import MODULE, definitions

_GENERATORS = ("generator", "async_generator")


class Program:
    """The recorded sources; what was searched for once is remembered, for every census asks the same."""

    def __init__(self, sources: Mapping[str, SourceFile]) -> None:
        self.sources = sources
        self._known: dict[tuple[str, str], bool] = {}
        self._deleting: dict[str, bool] = {}

    def is_known_elsewhere(self, home: SourceFile, name: str) -> bool:
        """Whether another file of the program may ask the module for the name."""
        if (home.path, name) not in self._known:
            self._known[home.path, name] = self._search(home, name)
        return self._known[home.path, name]

    def is_in_loop(self, view: View, owner: int) -> bool:
        """Whether a running function, a generator that waits or a running module is inside a loop of its own."""
        nodes, census = view.census.nodes, view.census
        source = self.sources.get(census.text(int(nodes.file[owner])))
        name = MODULE if nodes.kind[owner] == NodeKind.NAMESPACE else census.text(int(nodes.name[owner]))
        return source is not None and runs_in_loop(source, name, int(nodes.line[owner]))

    def runs_as_it_goes(self, type_name: str) -> bool:
        """Whether a class of the program has a `__del__`: it reads its object when nobody else does any more."""
        if type_name not in self._deleting:
            family = class_family(type_name, self.sources) if "." in type_name else ()
            own = ((self.sources[path], name) for path, name in family)
            self._deleting[type_name] = any(
                scope.qualname == f"{name}.__del__"
                for source, name in own
                if source.origin == "yours" and "__del__" in source.text
                for scope in definitions(source)
            )
        return self._deleting[type_name]

    def _search(self, home: SourceFile, name: str) -> bool:
        others = (source.text for source in self.sources.values() if source is not home and name in source.text)
        return any(_asks_for(text, PurePath(home.path).stem, name) for text in others)


def _asks_for(text: str, module: str, name: str) -> bool:
    """Whether the text has the name, and an import of the module or of what is in it, under whatever name. The name is
    looked for first: nothing else is rare enough in megabytes of library sources."""
    if not re.search(rf"\b{re.escape(name)}\b", text):
        return False
    own = rf"\b(?:{re.escape(module)}|__main__)\b"
    named = rf"\bimport\s*(?:\([^)]*|(?:[^\n\\]|\\\n)*){own}"
    return bool(
        re.search(
            rf"{named}|\bfrom\s+[\w.]*{own}\s+import\b|\bmodules\[['\"]{own}|import_module\(['\"][\w.]*{own}", text
        )
    )


def unread_variables(view: View, program: Program, *, called: bool = False) -> list[int]:
    """References by variables of the user's running functions, waiting generators and modules that no statement reads
    any more, as far as these are inside the calls that they execute now; of generators until they bind them anew. An
    object of the program's that does something as it goes is read then.

    Where these calls have `called` for the census, what their statements read is read already. Costs a look at each
    variable's source.
    """
    references, nodes, census = view.census.references, view.census.nodes, view.census
    found = []
    variables = np.isin(references.kind, (ReferenceKind.LOCAL, ReferenceKind.GLOBAL))
    variables &= np.isin(references.source, view.graph.roots) | _of_generators(view)[references.source]
    for reference in np.flatnonzero(variables).tolist():
        owner = int(references.source[reference])
        source = program.sources.get(census.text(int(nodes.file[owner]))) if nodes.file[owner] >= 0 else None
        line, name = int(nodes.line[owner]), view.graph.labels[reference]
        if source is None or source.origin != "yours" or line <= 0 or not name.isidentifier():
            continue
        is_module = nodes.kind[owner] == NodeKind.NAMESPACE
        function = MODULE if is_module else census.text(int(nodes.name[owner]))
        known_elsewhere = is_module and program.is_known_elsewhere(source, name)
        waits = nodes.kind[owner] == NodeKind.OBJECT
        if known_elsewhere or is_read_later(source, function, name, line, waits=waits, called=called):
            continue
        if not program.runs_as_it_goes(view.graph.type_names[references.target[reference]]):
            found.append(reference)
    return found


def _of_generators(view: View) -> Bools:
    """Per node: a generator that was begun and waits."""
    nodes, strings = view.census.nodes, (*view.census.strings, "")
    is_type = np.array([text.removeprefix("builtins.") in _GENERATORS for text in strings])
    return np.asarray((nodes.kind == NodeKind.OBJECT) & is_type[nodes.type], dtype=bool)


def find_calls_of_loops(view: View, program: Program) -> Callable[[int], bool]:
    """Whether a running function is in none of its own loops and may be called by somebody else's, turn by turn: its
    variables then seem to last, for the next call finds the same addresses. Frames are numbered from the inside. A
    generator that waits outside of its own loops may be made anew in each turn of somebody's, too."""
    nodes = view.census.nodes
    running = np.isin(nodes.kind, (NodeKind.FRAME, NodeKind.NAMESPACE)) & (nodes.line > 0) & (nodes.file >= 0)
    looping = [node for node in np.flatnonzero(running).tolist() if program.is_in_loop(view, node)]
    modules = [node for node in looping if nodes.kind[node] == NodeKind.NAMESPACE]

    def called_anew(node: int) -> bool:
        if nodes.kind[node] == NodeKind.NAMESPACE or node in looping:
            return False
        if nodes.kind[node] == NodeKind.OBJECT:
            return not program.is_in_loop(view, node)
        return bool(modules) or max(looping, default=-1) > node

    return called_anew
