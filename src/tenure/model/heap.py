"""A census: all that refers, directly or not, to tensor memory at one moment, by column.

Nodes are Python objects, autograd nodes, storages and roots; references are labelled edges between them.
Only the *ancestry* of tensors, and of much memory of the host, is kept: an object from which neither can be
reached is counted, not stored.
Ascent stops at roots: nothing above a frame, a module's namespace or a class is in a census.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class NodeKind(IntEnum):
    """What a node is. FRAME, NAMESPACE, CLASS and HIDDEN are roots: alive by themselves."""

    OBJECT = 0
    """Any other Python object: containers, instances, functions, cells, suspended generators."""
    TENSOR = 1
    """A `torch.Tensor` (or subclass) object. Its memory is the STORAGE node it refers to."""
    STORAGE = 2
    """Memory. Several tensors and saved slots may refer to one."""
    AUTOGRAD = 3
    """A node of the autograd graph (`grad_fn`), built-in or custom."""
    FRAME = 4
    """A running function. Root. Its references are its local variables."""
    NAMESPACE = 5
    """The globals of a module. Root."""
    CLASS = 6
    """A class; its `__dict__` hangs below it. Root."""
    HIDDEN = 7
    """Any other root no frame walk shows: signal and atexit handlers, `sys.last_exc`, thread state, ..."""


ROOT_KINDS = (NodeKind.FRAME, NodeKind.NAMESPACE, NodeKind.CLASS, NodeKind.HIDDEN)


class ReferenceKind(IntEnum):
    """How the source refers to the target; the label is the readable part (`history`, `'loss'`, `3`)."""

    OTHER = 0
    """The collector sees it but it has no name (label says what is known, e.g. `args`)."""
    ATTRIBUTE = 1
    """`source.label`: slots, instance values without a `__dict__` object, C members."""
    ITEM = 2
    """`source[label]`: a dict value; label is the key's repr, at most 60 characters."""
    INDEX = 3
    """`source[label]`: list, tuple, deque, object array; label is the index."""
    LOCAL = 4
    """Local variable `label` of a frame, generator or coroutine (closure variables included)."""
    GLOBAL = 5
    """Module global `label`."""
    CELL = 6
    """A function's closure variable `label`: function -> cell."""
    CONTENTS = 7
    """cell -> value. Rendered away."""
    DICT = 8
    """Instance, class or function -> its `__dict__`. Rendered away: `x.__dict__['a']` reads `x.a`."""
    DEFAULT = 9
    """Default of parameter `label` of a function (through `__defaults__`/`__kwdefaults__`)."""
    SELF = 10
    """Bound method -> the object it is bound to."""
    MEMBER = 11
    """Element of a set, or a dict key."""
    CACHED = 12
    """`functools` cache -> a cached result or its arguments."""
    GRAD_FN = 13
    """tensor -> the autograd node that made it (`.grad_fn`)."""
    NEXT = 14
    """autograd node -> next node (`.next_functions[label]`), or AccumulateGrad -> its leaf (`.variable`)."""
    SAVED = 15
    """autograd node -> tensor or storage saved for backward in slot `label`."""
    GRAD = 16
    """leaf tensor -> its `.grad`."""
    STORAGE = 17
    """tensor -> its storage."""
    BASE = 18
    """view -> the tensor it is a view of (`._base`)."""
    HOOK = 19
    """tensor or node -> a registered hook, or a saved-tensor slot -> its packed object."""
    NATIVE = 20
    """C++ object or cache -> a tensor or storage that it holds; the label says as what."""


class Role(IntEnum):
    """What a storage is for, the strongest claim first where several hold."""

    PARAMETER = 0
    BUFFER = 1
    GRADIENT = 2
    OPTIMIZER_STATE = 3
    INPUT = 4
    """Reachable from the arguments of the root module call that is being entered."""
    ACTIVATION = 5
    """Saved by an autograd node, or of a tensor that has a `grad_fn`."""
    OTHER = 6


GRAPH_CONTINUES = 1
"""Flag of an AUTOGRAD node: the walk stopped here by budget; more graph and at least these bytes lie behind."""
BUFFERS_FREED = 2
"""Flag of an AUTOGRAD node: backward already released its saved slots; only the node itself remains."""
OWNER_UNKNOWN = 4
"""Flag: reference counts could not be read for this node, so `unseen` says nothing."""
NAMED_BY_LIBRARY = 8
"""Flag of a root: its file lies in an installed package or the standard library, not in the user's tree."""
CALLED = 16
"""Flag of a module: called by the program (not by another module) since the census before, in a watched step."""
CALLED_BY_ANY = 32
"""Flag of a module: called since then by whomever, by another module too. Where nothing has this flag, such calls
were not watched: the recording is an older one, or its program compiles."""
ITERATOR = 64
"""Flag of an object: its type has `__next__`, so that a running `for` loop may keep it where no walk comes."""
FROZEN = 128
"""Flag of a parameter: it asks for no gradient (`requires_grad` is False)."""


@dataclass(frozen=True)
class Nodes:
    """One row per node. Text columns hold positions in `Census.strings`; -1 means none.

    `unseen` is the number of Python references to the node that no node of the census accounts for
    (0: all explained; an evaluation stack, C code or an untracked container holds the rest).
    `native` is the number of C++ owners of a tensor that the census does not account for.
    `length` is `len()` for builtin containers (a deque's bound is in `bound`), -1 otherwise.
    `file` and `line`: for frames the line now executing, for functions and classes where they are defined,
    for suspended generators the line they wait at.
    `called_in`: the last step in which a module was seen called since the census before; 0 for none, or where an older
    recording does not say.
    `address`: what tells the object apart while it lives, `id` of one of Python's; of an autograd node also what tells
    it from a later one in its place.
    """

    kind: Ints
    type: Ints
    name: Ints
    file: Ints
    line: Ints
    address: Ints
    unseen: Ints
    native: Ints
    length: Ints
    bound: Ints
    flags: Ints
    called_in: Ints


@dataclass(frozen=True)
class References:
    """One row per reference, with multiplicity: `source` and `target` are node numbers."""

    source: Ints
    target: Ints
    kind: Ints
    label: Ints


@dataclass(frozen=True)
class Storages:
    """One row per storage; `node` is its node number. Bytes are the storage's own, rounded up to the allocator's
    512 on CUDA-like devices and exact on CPU; `view_bytes` are what a copy of its largest live view would take, rounded
    alike (less than `bytes`: a small view pins a large storage). `pointer` is the address of its memory, 0 where that
    is not known; memory that torch does not own has rows too, less what torch's storages share of it.
    `serial` is the same for one storage in all censuses of a process and never another's, 0 where that is not known.
    `version` is the highest of its tensors' version counters, which operations in place raise (`Tensor._version`); 0
    also where there is none, as of tensors made in inference mode, and in older recordings."""

    node: Ints
    bytes: Ints
    view_bytes: Ints
    num_views: Ints
    role: Ints
    device: Ints
    dtype: Ints
    shape: Ints
    pointer: Ints
    serial: Ints
    version: Ints


@dataclass(frozen=True)
class HostBuffers:
    """Memory of the host that no tensor owns, one row per place: `owner` is the node that alone holds it.

    `kind` and `label` name the reference (`*`: many elements together), `type` is the type of what is held there.
    `bytes` are of text, bytes, numbers, NumPy arrays and the tables of containers; what they refer to is not counted.
    """

    owner: Ints
    bytes: Ints
    kind: Ints
    label: Ints
    type: Ints


def no_host_buffers() -> HostBuffers:
    """A table without rows."""
    return HostBuffers(*(np.empty(0, dtype=np.int64) for _ in fields(HostBuffers)))


@dataclass(frozen=True)
class ChildMemory:
    """A worker process at one moment, as the kernel counts its pages. `resident_bytes` are both others together.

    A forked worker starts with its parent's pages, shared; a page that either writes to is copied and private.
    """

    pid: int
    resident_bytes: int
    shared_bytes: int
    private_bytes: int


@dataclass(frozen=True)
class Census:
    """All ancestry of tensor memory, and of much host memory, at one moment of one process.

    `moment` is "step-end" (optimizer step done, everything of the step still bound), "forward-entry" (the root
    module is being called: what was carried over from earlier steps is alive here), "first-call-N" (before any
    step, the N-th root module is called for the first time), "evaluation-N" (the N-th call of a root module in
    evaluation mode begins since the step's end), "request" or "exit".
    `seconds` is the pause it cost the program.
    """

    step: int
    moment: str
    seconds: float
    num_objects: int
    strings: tuple[str, ...]
    nodes: Nodes
    references: References
    storages: Storages
    notes: tuple[str, ...] = ()
    host: HostBuffers = field(default_factory=no_host_buffers)
    counts: dict[str, int] = field(default_factory=dict)
    """`files`, `children`, `shared`, and threads by what they run: `thread Loader.fill /home/me/loader.py`."""
    children: tuple[ChildMemory, ...] = ()
    """Some of the processes that `multiprocessing` started; Linux only."""
    own_types: frozenset[str] = frozenset()
    """Types of the program's own in modules with the names of libraries; filled from the recorded sources."""

    def text(self, position: int) -> str:
        """The string at `position` of the table; "" for -1."""
        return self.strings[position] if position >= 0 else ""

    @property
    def storage_identities(self) -> Ints:
        """Per storage the number by which another census of the process knows it: its serial, below zero; its address,
        which is used again, where there is none."""
        addresses: Ints = self.nodes.address[self.storages.node]
        return np.where(self.storages.serial > 0, -self.storages.serial, addresses)
