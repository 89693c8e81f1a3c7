"""Questions that several rules ask of a suspect's retention path."""

from __future__ import annotations

import re

from tenure.model.suspect import ELEMENT_HOPS, FILLED, FILLED_OF, LOOKED_UP, ONLY_C_CODE, SUSPENDED_TYPES, Hop, Suspect

CALLBACKS = "callbacks of"
FUNCTIONS_IN = "functions in"
MUCH_PER_STEP = 256 * 1024
"""Bytes of the host by which a cached function's cache grows for sure, whoever's function it is."""
NOTABLE_BYTES = 256 << 10
NOTABLE_PACE, NOTABLE_GAIN = 0.5, 4 << 10
"""Objects and bytes per step. A few small results at fewer steps than every other, one per epoch or class, are mostly
meant, and so are rows of numbers that come to less: the report of a run."""
FEW_OBJECTS = 3
"""That came one by one, each many steps after the last, as one per task or phase: they may be all there will be."""
_CELL_OUTPUTS = "cell output history"
_INTERPRETER_HOOK = re.compile(r"`(sys|threading)\.\w*hook`")
_FUNCTIONS = ("function", "method", "partial")
_BEHIND_WRAPPERS = 4
"""References after which a path has left a bound method or partial for what it calls or was given."""
_FRAME_TYPES = ("traceback", "frame")
_DEQUES = ("deque", "collections.deque")
_DICTS = ("dict", "OrderedDict", "defaultdict", "WeakKeyDictionary", "WeakValueDictionary")


def short_type(qualified: str) -> str:
    """`Linear` of `torch.nn.modules.linear.Linear`."""
    return qualified.rpartition(".")[2]


def merely_counts(suspect: Suspect) -> bool:
    """Whether the keys of the dict that grows are the numbers n, n+1, n+2, ..., and nobody looks for them first."""
    return bool(suspect.facts.get("keys_count_up")) and LOOKED_UP not in suspect.facts


def collects_callbacks(suspect: Suspect) -> bool:
    """Whether what is collected is functions or bound methods, as those of who listens."""
    elements = (hop for hop in suspect.path if hop.kind in ELEMENT_HOPS)
    return suspect.holder.element and any(short_type(hop.target_type) in _FUNCTIONS for hop in elements)


def most_have_it(suspect: Suspect) -> bool:
    """Whether it grows by one attribute of each of some objects, which at least half of them have got: it ends soon."""
    have, of = suspect.facts.get(FILLED), suspect.facts.get(FILLED_OF)
    return isinstance(have, int) and isinstance(of, int) and of <= 2 * have


def hidden_root(suspect: Suspect) -> str:
    """The root no frame walk shows (`signal handler of SIGTERM`), a notebook's outputs, a hook of the interpreter's
    (`sys.excepthook`), a library's list of functions to call (`gc.callbacks`), a library's function that the program
    put one of its own for, a function that C code keeps, by what it closes over, or a thread's own data that the path
    comes from, or ""."""
    first = suspect.path[0] if suspect.path else None
    if first and first.source_kind == "HIDDEN":
        return first.source_name or short_type(first.source_type)
    root = suspect.path_text[0] if suspect.path_text else ""
    if root.startswith((_CELL_OUTPUTS, CALLBACKS)):
        return root
    if suspect.grows and suspect.holder.kind == "closure" and root.startswith(ONLY_C_CODE):
        return ONLY_C_CODE.removeprefix("a ")
    if _is_library_list_of_functions(suspect):
        return f"{FUNCTIONS_IN} {root}"
    if _INTERPRETER_HOOK.fullmatch(root):
        return root
    if replaced_function(suspect):
        return f"`{suspect.facts['stands_in']}`" if "stands_in" in suspect.facts else root
    return "thread-local object" if any(hop.source_type == "_thread._local" for hop in suspect.path) else ""


def collects_unused_graphs(suspect: Suspect) -> bool:
    """Whether a deque's elements, or those of a list or an attribute that a whole step leaves as they are, are carried
    into the forward with graphs that no backward has gone through: an evaluation's outputs or losses, kept until the
    next one or as the best so far."""
    unused = suspect.symptom == "peak" and suspect.through_graph and not suspect.graph_freed
    container = next((hop.source_type for hop in suspect.path if hop.target_kind == "TENSOR"), "")
    outlasts = bool(suspect.facts.get("outlasts_a_step"))
    return unused and (container in _DEQUES or (outlasts and (container == "list" or _keeps_by_attribute(suspect))))


def keeps_losses_carried(suspect: Suspect) -> bool:
    """Whether what is carried so is known to have one element each: losses, and no outputs."""
    return collects_unused_graphs(suspect) and "kept_shape" in suspect.facts and keeps_scalar(suspect)


def _keeps_by_attribute(suspect: Suspect) -> bool:
    return suspect.holder.kind == "attribute" and not suspect.holder.element and not is_left_on_a_layer(suspect)


def _is_library_list_of_functions(suspect: Suspect) -> bool:
    """Whether a list or table of a library's module gains functions of the program with every step; hooks of modules
    are told by themselves."""
    first = suspect.path[0] if suspect.path else None
    if first is None or first.user or first.source_kind != "NAMESPACE" or suspect.holder.kind == "hook":
        return False
    gains = suspect.grows and suspect.holder.element and len(suspect.path) > 1
    collection = short_type(first.target_type) in ("list", "set", *_DEQUES, *_DICTS)
    return gains and collection and short_type(suspect.path[1].target_type) in _FUNCTIONS


def replaced_function(suspect: Suspect) -> bool:
    """Whether memory grows by what a function of the program refers to that stands in a library's module or class: as
    `logging._logRecordFactory`, `warnings.showwarning` or `torch.load`, mostly beside the function it was put for.

    A list that such a function fills is a collection like any other.
    """
    if "stands_in" in suspect.facts:
        return suspect.grows
    first = suspect.path[0] if suspect.path else None
    if first is None or first.user or first.source_kind not in ("NAMESPACE", "CLASS"):
        return False
    own = any(hop.user for hop in suspect.path[1:_BEHIND_WRAPPERS])
    chain = suspect.grows and not suspect.holder.element and suspect.holder.kind != "hook"
    return own and chain and short_type(first.target_type) in _FUNCTIONS


def goes_through_traceback(suspect: Suspect) -> bool:
    """An exception's traceback, or the frame of a function that has ended, lies on the path."""
    return any(short_type(hop.target_type) in _FRAME_TYPES and hop.target_kind == "OBJECT" for hop in suspect.path)


def suspended_hop(suspect: Suspect) -> Hop | None:
    """The step of the path from a suspended generator or coroutine to a variable of it."""
    suspended = (hop for hop in suspect.path if hop.kind == "LOCAL" and hop.source_kind == "OBJECT")
    return next((hop for hop in suspended if short_type(hop.source_type) in SUSPENDED_TYPES), None)


def goes_through_cache(suspect: Suspect) -> bool:
    """The cache of a `functools.cache` or `lru_cache` function lies on the path."""
    return any(hop.kind == "CACHED" for hop in suspect.path)


def is_much_in_a_cache(suspect: Suspect) -> bool:
    """Host memory that a function's cache gains so fast that it is no table of small results that still fills."""
    fast = (suspect.growth_bytes_per_step or 0) >= MUCH_PER_STEP
    return suspect.device == "host" and fast and goes_through_cache(suspect)


def comes_to_much(suspect: Suspect) -> bool:
    """What is collected has many bytes, in more than a few objects, or comes at every other step at least, and by a few
    kilobytes, to a holder that has a name: a few small things on the evaluation stack are mostly a list in the making,
    `[first, *generator()]`."""
    at_pace = comes_at_pace(suspect)
    gains = suspect.growth_bytes_per_step is None or suspect.growth_bytes_per_step >= NOTABLE_GAIN
    many = suspect.retained_bytes >= NOTABLE_BYTES and (at_pace or suspect.num_objects > FEW_OBJECTS)
    return many or (at_pace and gains and suspect.holder.kind != "unknown")


def comes_at_pace(suspect: Suspect) -> bool:
    """An object comes at every other step at least."""
    return (suspect.growth_objects_per_step or 1) >= NOTABLE_PACE


def is_left_on_a_layer(suspect: Suspect) -> bool:
    """Whether an attribute of a module inside of another has the memory, as a hook leaves it there."""
    return suspect.holder.kind == "attribute" and any(hop.label == "'_modules'" for hop in suspect.path)


def is_dict(container_type: str) -> bool:
    """Whether a container of this type is a mapping."""
    return short_type(container_type) in _DICTS or container_type.endswith("Dict")


def keeps_scalar(suspect: Suspect) -> bool:
    """The tensor by which the path enters an autograd graph has one element: a loss rather than a state."""
    return suspect.facts.get("kept_shape", "[]") in ("[]", "[1]", "[1, 1]")
