"""What is sought in the sources and how well a statement fits it: its form, its owner, its file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from tenure.analysis.sites.class_search import class_family
from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.bindings import Binding, Call, bindings, calls
from tenure.syntax.text.mentions import spellings
from tenure.syntax.text.scopes import enclosing_function

SURE, LIKELY, WEAK, UNLIKELY = range(4)
_INTO_LISTS = ("append", "extend", "insert", "appendleft", "extendleft", "add")
_MAKES_A_NUMBER = re.compile(r"\.(item|tolist|numel)\(\)$|^(float|int|len|str)\([^()]*(\([^()]*\))?[^()]*\)$")
"""A value that holds no memory: whatever keeps some was bound elsewhere."""
_MAKES_A_TENSOR = re.compile(r"^torch\.(zeros|ones|empty|full|rand|randn|eye|arange|linspace|tensor)(_like)?\(")
"""A value that refers to nothing made before: what grows behind a reference was bound elsewhere."""

BINDERS = frozenset(
    {"assign", "unpack", "walrus", "annotated", "augmented", "with", "for", "except", "match", "import"}
    | {"definition", "parameter", "comprehension", "attribute", "ctx", "class", "field", "partial"}
)
MUTATORS = frozenset({"item", "grow"})
_NO_CLASSES = frozenset(
    {"list", "dict", "set", "tuple", "deque", "defaultdict", "OrderedDict", "module", "ModuleType", "function", "cell"}
)
_OF_FUNCTIONS = frozenset({"forward", "backward", "setup_context", "jvp", "vjp", "vmap"})
_SAVED = frozenset({"saved_tensors", "_saved_tensors", "to_save", "saved_variables"})


ITEM_NAME = re.compile(r"(\w+)(?:\[.*\])?\[(.*?)\]")
"""The name of a container's item, with its last key: `models['teacher']`, `state[<Parameter>]['exp_avg']`."""
_LIBRARY_CHARACTERS = 2_000_000
"""How much text of libraries is parsed at most for one name: about a second."""


@dataclass(frozen=True)
class RankedSite:
    """A candidate statement; `plausibility` is 0 for the best supported, 3 for the barely possible."""

    location: SourceLocation
    end_line: int
    plausibility: int
    order: tuple[int, ...] = ()
    stores: bool = False
    """The statement puts something into a container: an append, an item assignment, an addition in place."""
    empty: bool = False
    """The statement binds a container that holds nothing yet."""


class Sought:
    """One question to the sources: what is sought and what is known of its owner, kept together."""

    def __init__(self, reference: HoldingReference, sources: Mapping[str, SourceFile], growing: bool) -> None:
        self.reference = reference
        self.sources = sources
        self.growing = growing
        self.key = ""
        name = reference.name
        if reference.kind == "item" and (found := ITEM_NAME.fullmatch(name)):
            name, self.key = found[1], found[2]
        self.name = name
        self.names = _spellings(name)
        # A container or module that owns something says nothing about classes.
        last = reference.owner_type.rpartition(".")[2]
        self.owner_type = "" if last in _NO_CLASSES else reference.owner_type
        self.in_a_module = last in ("module", "ModuleType") and bool(reference.scope_file)
        self.element = reference.element or reference.kind == "item"

    @cached_property
    def family(self) -> tuple[tuple[str, str], ...]:
        """The owner's class and its bases, as places in the sources."""
        return class_family(self.owner_type, self.sources) if self.owner_type else ()

    def _is_plain(self, binding: Binding) -> bool:
        """Whether what a statement calls `ctx` is no autograd Function's, but may be an object of the owner's class."""
        in_function = binding.function.rpartition(".")[2] in _OF_FUNCTIONS
        return bool(self.family) and not self.owner_type.endswith("Backward") and not in_function

    def mutation_level(self, binding: Binding) -> int | None:
        """How well an append, item assignment or the like explains the reference; None if not at all."""
        if not self.element and not (self.growing and self.reference.container_type):
            return None
        keys = self._keys
        if binding.kind in ("item", "grow") and binding.value_kind == "none":
            return UNLIKELY  # `slots[n] = None` lets go
        if self._only_makes_container(binding):
            return WEAK
        if binding.kind == "grow" and binding.value_kind == "empty":
            return LIKELY  # `groups.append([])` holds nothing before `groups[-1].append(x)`
        if keys and binding.key and binding.key not in keys:
            return UNLIKELY if self.key and self.reference.element else WEAK
        if keys and not self.reference.element and binding.method in _INTO_LISTS:
            return WEAK  # what goes by a text lies in a dict
        if binding.key and not keys and self.growing and self.reference.container_type == "dict":
            return LIKELY  # a constant key cannot make a dict grow without end
        return SURE

    def has_key(self, binding: Binding) -> bool:
        """Whether the statement stores under the very text that the reference goes by."""
        return bool(binding.key) and binding.key in self._keys

    def _only_makes_container(self, binding: Binding) -> bool:
        """`state.setdefault("steps", [])` where an element of what lies under the key is sought; where that grows also
        `state["steps"] = [first]`."""
        makes_empty = binding.method == "setdefault" and binding.value_kind == "empty"
        is_new = binding.kind == "item" and binding.value_kind in ("empty", "display")
        makes_first = self.growing and is_new and not self.refers_to_itself(binding)
        return (makes_empty or makes_first) and self.reference.element and bool(self.key)

    def binder_level(self, binding: Binding) -> int:
        """How well a plain binding explains the reference, whoever owns it."""
        repeats = binding.kind == "augmented" or self.refers_to_itself(binding)
        if binding.value_kind in ("none", "constant") and binding.kind != "augmented":
            return UNLIKELY
        if _MAKES_A_NUMBER.search(binding.value_text):
            return WEAK
        if binding.kind in ("import", "definition"):
            return UNLIKELY
        if self.element:
            if repeats:
                return SURE
            if binding.value_kind == "empty" or not (binding.value_kind or binding.kind == "parameter"):
                return UNLIKELY
            return WEAK if self.growing or binding.kind == "parameter" else LIKELY
        if self.growing and (binding.value_kind == "empty" or _MAKES_A_TENSOR.match(binding.value_text)):
            return WEAK
        if not self.growing or repeats:
            return SURE
        return SURE if binding.in_loop else LIKELY

    def refers_to_itself(self, binding: Binding) -> bool:
        """Whether the value bound is made from the name itself: `total = total + loss`."""
        return any(re.search(rf"\b{re.escape(name)}\b", binding.value_text) for name in self.names)

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        after = self.reference.expression.rpartition(self.name)[2] if self.name else ""
        first = re.match(r"\[(['\"].*?['\"])\]", after)
        shown = self.key or (first[1] if first else "")
        return (shown.replace('"', "'"),) if shown[:1] in ("'", '"') else ()

    @property
    def of_an_object(self) -> bool:
        """Whether an attribute is sought, or an item of a container that an attribute names."""
        if self.owner_type or not self.reference.scope_file:
            return True
        dotted = re.search(rf"[\w\])]\.{re.escape(self.name)}\b", self.reference.expression)
        return dotted is not None and not self.in_a_module

    def store_level(self, binding: Binding) -> int | None:
        """How well a statement's form explains the reference, whoever owns what it stores into."""
        if binding.kind in MUTATORS or (binding.kind == "augmented" and binding.method == "item"):
            return self.mutation_level(binding)
        if binding.kind == "cache" and not self.element:
            return SURE if binding.method == "cached_property" else None
        if binding.kind not in BINDERS:
            return None
        level = self.binder_level(binding)
        in_method = binding.kind == "attribute" and not binding.function.endswith("__init__")
        if level == LIKELY and not self.element and in_method:
            return SURE  # methods run again and again
        if binding.kind == "field":
            return max(level, WEAK)
        return level

    def growth_level(self, binding: Binding) -> int | None:
        """As `mutation_level`, for containers known to be the one sought."""
        if self._only_makes_container(binding):
            return WEAK
        grows = binding.kind in MUTATORS or binding.kind == "augmented"
        return SURE if grows and self.element else None

    def owner_fit(self, path: str, receiver: str, on_self: bool, binding: Binding | Call) -> int | None:
        """How well the object stored into fits the owner sought; None for plain variables of the same name."""
        in_family = (path, binding.class_name) in self.family
        if not receiver:
            body = isinstance(binding, Binding) and binding.function == binding.class_name != ""
            of_class = WEAK if self.sources[path].origin == "library" else SURE
            return of_class if body and in_family else None
        if isinstance(binding, Binding) and binding.kind == "ctx" and not self._is_plain(binding):
            return SURE if in_family else (LIKELY if not self.family else UNLIKELY)
        if on_self:
            return SURE if in_family else (UNLIKELY if self.family else LIKELY)
        last = receiver.rpartition(".")[2]
        if any(last == qualname.rpartition(".")[2] for _, qualname in self.family):
            return SURE
        made = self._made_by(path, receiver, binding)
        if made:
            return SURE if made in {qualname.rpartition(".")[2] for _, qualname in self.family} else UNLIKELY
        shown = any(f"{last}.{name}" in self.reference.expression for name in self.names)
        return SURE if shown else LIKELY

    def _made_by(self, path: str, receiver: str, use: Binding | Call) -> str:
        """The class by whose constructor a variable was bound, where that is all that binds it."""
        if not self.family or "." in receiver:
            return ""
        owner = use.owner if isinstance(use, Binding) else ""
        made = {
            found[1] if (found := re.match(r"(?:\w+\.)*([A-Z]\w*)\(", b.value_text)) else ""
            for b in bindings_of(self.sources[path])
            if b.name == receiver and b.owner == owner and not b.receiver and b.kind in BINDERS
        }
        return made.pop() if len(made) == 1 else ""

    def file(self, path: str) -> tuple[str, SourceFile] | None:
        """The recorded file of a path, also where only the end of the path is the same."""
        if path in self.sources:
            return path, self.sources[path]
        parts = PurePath(path).parts
        ends = [
            (known, source)
            for known, source in self.sources.items()
            if parts and PurePath(known).parts[-len(parts) :] == parts
        ]
        return ends[0] if len(ends) == 1 else None

    def is_scope_file(self, path: str) -> bool:
        """Whether the reference's frame, function or module is written in this file."""
        found = self.file(self.reference.scope_file)
        return found is not None and found[0] == path

    def files_with_name(self, origin: str = "") -> Iterator[tuple[str, SourceFile]]:
        """Files worth parsing for the name: the owner's own and the user's, then libraries that store under it.

        Of libraries no more than about a second's work, those near the owner first. `origin` limits the answer;
        the owner's own files count as "yours".
        """
        near = {path for path, _ in self.family} | {self.reference.scope_file}
        spent = 0
        if origin != "library":
            for path, source in self.sources.items():
                if (source.origin == "yours" or path in near) and self._occurs(source):
                    yield path, source
        if origin != "yours":
            for path, source in sorted(self.sources.items(), key=lambda item: self._distance(item[0])):
                if source.origin == "yours" or path in near or not self._occurs(source):
                    continue
                if self._stored.search(source.text) and spent + len(source.text) <= _LIBRARY_CHARACTERS:
                    spent += len(source.text)
                    yield path, source

    def _occurs(self, source: SourceFile) -> bool:
        saved = self.names[0] in _SAVED and "save_for_backward" in source.text
        return saved or any(name in source.text for name in self.names)

    @cached_property
    def _stored(self) -> re.Pattern[str]:
        either = "|".join(map(re.escape, self.names))
        forms = r"([-+*/|&@]?=[^=]|[\[:,]|\.\w+\()"
        return re.compile(rf"\b({either})\s*{forms}|['\"]({either})['\"]|def ({either})\b|save_for_backward")

    def _distance(self, path: str) -> int:
        """Files that share more of their folders with the owner's come first."""
        near = [*(place for place, _ in self.family), self.reference.scope_file]
        return -max(len(posixpath.commonprefix([path, place])) for place in near)

    def site(self, path: str, found: Binding | Call, level: int, detail: int = 0) -> RankedSite:
        """A statement as a candidate; `detail` orders candidates of equal plausibility."""
        source = self.sources[path]
        stores = isinstance(found, Binding) and (found.kind in MUTATORS or found.kind == "augmented")
        order = (
            detail,
            int(source.origin == "library"),
            int(not (self.is_scope_file(path) or any(path == place[0] for place in self.family))),
            int(not stores and self.growing),
            int(found.function.endswith("__init__")),
            int(not found.in_loop),
        )
        place = SourceLocation(source.path, found.line, found.function)
        empty = isinstance(found, Binding) and found.kind in BINDERS and found.value_kind == "empty"
        return RankedSite(place, found.end_line, level, order, stores, empty)


def place_at(source: SourceFile, line: int) -> SourceLocation:
    """A line of a file, with the function around it."""
    return SourceLocation(source.path, line, enclosing_function(source, line))


def is_yours(sites: Sequence[SourceLocation], sources: Mapping[str, SourceFile], *, default: bool = False) -> bool:
    """Whether the first of some statements stands in a file of the program's own; `default` where none is known."""
    source = sources.get(sites[0].file) if sites else None
    return source.origin == "yours" if source else default


def bindings_of(source: SourceFile) -> tuple[Binding, ...]:
    """The bindings of a file; none where it cannot be parsed."""
    try:
        return bindings(source)
    except SourceError:
        return ()


def calls_of(source: SourceFile) -> tuple[Call, ...]:
    """The calls of a file that pass a name on; none where it cannot be parsed."""
    try:
        return calls(source)
    except SourceError:
        return ()


def _spellings(name: str) -> tuple[str, ...]:
    """As what a source may write it."""
    return (name, "saved_tensors") if name in _SAVED else spellings(name)
