"""Scopes while the names in them are being collected: which names each binds, reads and declares."""

from __future__ import annotations

from dataclasses import dataclass, field

from tenure.syntax.text.scopes import MODULE, is_inlined


@dataclass(eq=False)
class WalkedScope:
    """A module, class, function (or lambda) or comprehension while its names are being collected."""

    kind: str
    qualname: str
    function: str
    parent: WalkedScope | None = None
    class_name: str = ""
    self_name: str = ""
    first_parameter: str = ""
    has_fields: bool = False
    """A dataclass or its like."""
    is_autograd: bool = False
    bound: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    line: int = 0
    end_line: int = 0

    def inner_name(self, name: str) -> str:
        """The qualified name of what is defined here under a name."""
        if self.kind == "module":
            return name
        if self.kind == "comprehension" and self.parent is not None and is_inlined(self.qualname):
            return self.parent.inner_name(name)
        return f"{self.qualname}.{name}" if self.kind == "class" else f"{self.qualname}.<locals>.{name}"

    def owner_of(self, name: str) -> str:
        """The scope in which a name used here lives; "" for builtins and names nobody binds."""
        scope: WalkedScope | None = self
        first = True
        while scope is not None:
            if name in scope.global_names:
                return MODULE
            visible = first or scope.kind != "class"
            if visible and name in scope.bound and name not in scope.nonlocal_names:
                return scope.qualname
            first = False
            scope = scope.parent
        return ""

    def bind(self, name: str) -> None:
        """Note that this scope binds a name; where it declared the name global, the module does."""
        scope = self
        if name in self.global_names:
            while scope.parent is not None:
                scope = scope.parent
        scope.bound.add(name)
