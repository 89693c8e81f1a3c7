"""A suspect: memory (or autograd nodes) that should not be alive, measured over censuses, with who holds it.

Suspects are facts without a cause. Rules turn them into findings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tenure.model.experiment import Drop
from tenure.model.finding import Forecast, Interval, Symptom
from tenure.model.source import SourceLocation

IDLE_FROM = "idle_from_step"
"""The fact from which step on nobody is known to use the memory: what a later profiled step touches is in use."""
STILL_USED = "still_used_bytes"
"""The fact that says how many bytes of a module that rests operations of later steps used all the same."""
NEVER_CALLED = "never_called"
"""The fact that a part of a model in use was there in all of the run and no module's call was seen to reach it."""
PASSED_BY = "passed_by_optimizer"
"""The fact that an optimizer which goes on stepping has the memory, and has not stepped it since."""
UNCHANGED_SINCE = "state_unchanged_since"
"""The fact from which step on no step of an optimizer, which goes on, has changed this state of it."""
CUT_IN_LIBRARY = "cut_in_library"
"""The fact that statements of libraries made some of the references to drop, beside those of the program."""
ALSO_KEPT_BY = "also_kept_by"
"""The fact what else keeps most of the graphs that were to go with the cut: only both together free them."""
TRAINED_BEFORE = "trained_before"
"""The fact that an optimizer had the parameters in an earlier step, and none has them now."""
OPTIMIZER_STOPPED = "optimizer_stopped"
"""The fact that an optimizer has the parameters, and has not stepped in the later half of the run while another did."""
PART_WITH_GRADIENTS = "part_with_gradients"
"""The fact that of a module only the parts of this type have gradients."""
PARTS_WITH_GRADIENTS = "parts_with_gradients"
"""The fact that says how many parts of the module, of many kinds, have gradients while others are trained."""
GRAPH_GOES_ON = "graph_goes_on"
"""The fact that a census could not follow the graphs to their ends: there are more nodes than it counted."""
REBUILT = "built_anew"
"""The fact that all elements of a container are other objects after each step, and become more."""
COPIED_TO_GROW = "copied_to_grow"
"""The fact that a concatenation makes it larger, by the file and line of its statement."""
GROWS_WITH_MODEL = "grows_with_model"
"""The fact that what is collected comes with layers that the model gets, one after each task, and with nothing else."""
SHARE_IN_GENERATOR = "share_in_generator"
"""The fact which share of all memory a waiting generator's variables hold that it does not read again."""
NODE_HOOK = "node_hook"
"""The fact that names the function that hooks of an autograd node call, where these alone hold the memory."""
OWN_HOOK = "through_own_hook"
"""The fact that a ring goes through the hooks of a tensor that it leads to."""
SUSPENDED_TYPES = ("generator", "coroutine", "async_generator")
"""Types of objects that keep a function's variables between two resumptions."""
_OPTIM = "torch.optim."
_AVERAGES = "torch.optim.swa_utils."


def is_of_optimizers(type_name: str) -> bool:
    """Whether torch's own optimizers, or schedulers that lead to them, have this type; an averaged model has not."""
    return type_name.startswith(_OPTIM) and not type_name.startswith(_AVERAGES)


@dataclass(frozen=True)
class Hop:
    """One reference of a retention path, in words. The first hop starts at a root.

    `kind` is the name of a `ReferenceKind`; `source_kind` and `target_kind` of a `NodeKind`; types are qualified
    names ("torch.nn.modules.linear.Linear"; an AUTOGRAD node's type is its name, "MulBackward0").
    `source_name`, `file`, `line` describe the source where it is a frame, function, generator, class or
    namespace (qualified name; where it is defined, or the line it executes).
    `user` is true where the reference was made by the user's own code, false inside torch or an installed package.
    """

    kind: str
    label: str
    source_kind: str
    source_type: str
    source_name: str
    target_kind: str
    target_type: str
    file: str = ""
    line: int = 0
    user: bool = True


ELEMENT_HOPS = ("ITEM", "INDEX", "MEMBER")
"""Kinds of references by which a container has what is in it."""
GRADIENTS_IN_TURN = "gradients_in_turn"
"""Fact: what grows is the gradients of tensors that live on, of one after the other."""
FILLED = "filled_attributes"
"""The fact that says how many objects, all of which live on, hold the memory by an attribute that each got in turn."""
FILLED_OF = "filled_attributes_of"
"""The fact that says how many objects there are, with and without such an attribute, where one container has all."""
ON_LAYERS = "attributes_of_layers"
"""The fact that these objects are layers of torch's own."""
COMPUTED_ONCE = "computed_once"
"""The fact that a `cached_property` set it."""
BUILT_ANYWAY = "built_anyway"
"""The fact that gives the call which builds a default that is there already, `self.build(n)`."""
BESIDE_STATE = "beside_state"
"""The fact that the memory lies beside a model whose state is being moved, "loading" or "saving"."""
GIVEN = "given_to_the_call"
"""The fact that this is what the call was given."""
UNREAD = "unread"
"""The fact that no statement reads the variable any more."""
HOOKS_PER_STEP = "hooks_per_step"
"""Fact of what is carried: how many entries the table of hooks gains per step whose newest ones hold the memory."""
NEVER_READ_AGAIN = "never_read_again"
"""The fact that only variables hold the memory which no statement reads any more, though their function runs on."""
UNREAD_MODULE = "unread_module"
"""Fact of what nobody reads again: the type of the module whose parameters and buffers most of it is."""
UNREAD_FIELD = "unread_field"
"""The fact that no statement of the program reads the attribute that holds the memory."""
LITTLE_OF_ALL = "little_of_all"
"""The fact that what a hidden root holds is next to nothing beside all that is alive."""
READ_BEFORE = "read_before"
"""Fact of what an attribute holds: the functions that read it, none of which may run any more; perhaps none."""
OF_LOSSES = "of_losses"
"""The fact that the function which averages what is kept, its statement in a module, or the one that adds to a
container says that these are losses."""
CARRIED_ON = "carried_on"
"""The fact that the statement which makes the holding reference computes its value from the one that was there."""
PEAK_NOT_MET = "peak_not_met"
"""Fact of what is idle at the peak: who holds it was seen in the same step at another operation."""
DRAWN = "drawn_in_step"
"""Fact of what is idle at the peak: the step made it of data alone, outside of modules, as a batch that it draws."""
HANDED_ON = "handed_on"
"""Fact of what is idle at the peak: the variables that hold it and that their function returns, or yields, later."""
WAITS = "waits_for"
"""Fact of what is idle at the peak: the operation after it that uses the memory up, and might have run before."""
GRAPHS_IN_TURN = "graphs_in_turn"
"""Fact of what is idle at the peak: how many graphs alike wait for one backward, which each might have had alone."""
ADDS_TO_NO_PEAK = "adds_to_no_peak"
"""Fact of what a step hands to the next one's forward: at the peaks of the profiled steps it is gone or next to
nothing."""
FOR_THE_STEP = "for_the_step"
"""Fact of what is carried into a forward: the step that begins there uses it."""
INSIDE_OF_IDLE = "inside_of_idle"
"""Fact of what is carried: it hangs on a name that is told to idle at the peak, in this object or one like it."""
IN_WINDOW = "in_window"
"""The fact that the memory is entries of a container that states a bound and keeps it: the last few are meant."""
KEPT_SHORT = "kept_short_at"
"""The fact that says at which line the program looks how much the container holds, to take entries out or let none
in."""
MADE_LARGER = "made_larger_at"
"""The fact that says at which line the program asks whether the memory is large enough, to make it anew if not."""
READ_AFTERWARDS = "read_afterwards_at"
"""The fact that says where the program goes through all entries of the container once, outside of its loops, and uses
their tensors."""
READ_IN_TURNS = "read_in_turns_at"
"""The same of a container to which entries come as seldom as tasks do, and which the program goes through now and
then."""
LOOKED_UP = "looked_up"
"""The fact that the program looks for a key in the table before it puts an entry there, as into a cache."""
KEPT_UP = "kept_up_to_date"
"""The fact that a profiled step changed earlier entries of the container in place."""
USED_BY_STEPS = "used_by_steps"
"""The fact that entries come to a container seldom, and that a profiled step used most of those that there were."""
EVALUATED_WITH_GRAPH = "evaluated_with_graph"
"""The fact that the graphs are of calls of a model with autograd on that no backward pass follows; the mode that it is
in, "evaluation" or "training", or "" where that was not seen."""
RETURNED = "returned"
"""The fact that a call has just given them back, and that nothing need have them later."""
ONLY_C_CODE = "a callback that only C code keeps"
"""How the text of a path begins whose root is a function that no object of Python's leads to."""
RUNNING = "running"
"""The fact that lists, where no name holds the memory, the program's own functions that were running then, innermost
first, each by file, line and name."""


@dataclass(frozen=True)
class HoldingReference:
    """A reference a person can drop, with all a reader of source code needs to find the statement that made it.

    `owner_type` is the type of the object that owns the container or attribute ("" for plain variables);
    `scope_file`, `scope_function` name the frame, function or module in which a variable lives.
    `element` is true where the reference is one of many in a container (then `name` names the container and the
    statement sought is an append, insert, item assignment, add or update).
    """

    kind: str
    """local, global, attribute, item, closure, default, hook, cache, class, hidden, cycle, saved (by a custom autograd
    Function, for backward) or unknown."""
    name: str
    """The last name: `history` of `self.trainer.history[3]['loss']`."""
    expression: str
    """Readable as Python: `trainer.history[*]['loss']`."""
    owner_type: str = ""
    scope_file: str = ""
    scope_function: str = ""
    scope_line: int = 0
    element: bool = False
    container_type: str = ""
    inside: str = ""
    """Of a nameless container: the type of the object that has it, `itertools.cycle`."""
    calls: str = ""
    """Of hooks the qualified name of the function that most of them call: `attach.<locals>.<lambda>`."""
    sites: tuple[SourceLocation, ...] = ()
    """Statements that make this reference, best first; filled from the recorded sources."""
    library_sites: tuple[SourceLocation, ...] = ()
    """Statements of a library that make it inside the program's own calls, where `sites` names those."""
    aliases: tuple[HoldingReference, ...] = ()
    """Other names of the same container, where `element` is true: statements may store into it by any of them. Of a
    local variable those of other running functions: a parameter is its caller's to drop."""
    record: HoldingReference | None = None
    """Of an attribute of an object that is made anew in each step: what that object goes by."""
    fields: tuple[tuple[HoldingReference, ...], ...] = ()
    """Of a record that would be dropped whole: its attributes that hold the memory, those of the heaviest first; the
    innermost, then what has these, to the outermost."""

    @property
    def names_a_loss(self) -> bool:
        """Whether it says of itself that what it refers to is a loss."""
        return "loss" in self.expression.lower()


@dataclass(frozen=True)
class Series:
    """What a group weighed at each census of one moment: equal-length columns, steps ascending."""

    moment: str
    steps: tuple[int, ...]
    bytes: tuple[int, ...]
    objects: tuple[int, ...]
    """Storages, or elements of the growing container."""
    graph_nodes: tuple[int, ...]


@dataclass(frozen=True)
class Falls:
    """When a sawtooth falls and by how much: what it gains between two falls, and what else happens then.

    `with_what` is "collector", "interval" (a remainder by the period in the program's source, `where`), or "" where
    nothing is known to coincide.
    """

    amplitude_bytes: int
    amplitude_objects: int | None
    every_steps: int
    with_what: Literal["collector", "interval", ""] = ""
    expression: str = ""
    """Of an interval: `step % log_every`."""
    where: SourceLocation | None = None


@dataclass(frozen=True)
class Suspect:
    """One group of storages (or graph nodes) held in the same way.

    `path` leads from a root to the heaviest member in the last census where the group was seen; `holder` is the
    innermost reference that is the user's to drop; `cut` all references to drop so that the memory is freed.
    """

    key: int
    symptom: Symptom
    path: tuple[Hop, ...]
    path_text: tuple[str, ...]
    """The same for people: "local variable `retval` in Trainer.fit (trainer.py:598)", "['loss']", ".grad_fn"."""
    holder: HoldingReference
    cut: tuple[HoldingReference, ...]
    retained_bytes: int
    num_objects: int
    num_graph_nodes: int
    device: str
    bytes_by_role: dict[str, int]
    first_step: int
    last_step: int
    series: Series
    growth_bytes_per_step: float | None
    growth_objects_per_step: float | None
    fingerprint: str
    bytes_interval: Interval | None = None
    """Of `growth_bytes_per_step`; None where too few censuses were taken to say."""
    objects_interval: Interval | None = None
    forecast: Forecast | None = None
    """When memory runs out; only for growth that is surely more than none, and where the limit is known."""
    falls: Falls | None = None
    """Of a sawtooth, and of rings that the collector was seen to free."""
    path_targets: tuple[str, ...] = ()
    """What each text of `path_text` leads to: "Tensor [32, 386] float32, 47.66 KiB"; "" where nothing is to be said."""
    scalars: bool = False
    """Every view has one element."""
    pinned_bytes: int = 0
    """Bytes of storages beyond what the largest live view covers: small views that pin large storages."""
    through_graph: bool = False
    """The path enters an autograd graph before it reaches memory."""
    graph_freed: bool = False
    """The graph's buffers were already released by backward; nodes remain."""
    cyclic: bool = False
    """No root reaches it: only the collector (or not even that) frees it; `path` then is the ring."""
    copies_of: str = ""
    """Type name, where the growing objects are whole modules or metrics of one type."""
    period_steps: int | None = None
    """Sawtooth: steps between falls."""
    holder_is_yours: bool = True
    """Whether the holding reference was made by the user's own code rather than an installed package's."""
    ambiguous: bool = False
    """Several statements may have made the holding reference, and nothing seen decides between them."""
    facts: dict[str, object] = field(default_factory=dict)
    """Further measured facts by name, shown as evidence."""
    peak_bytes: int | None = None
    """Most bytes alive in the profiled step, where that was measured."""
    peak_drop_bytes: int | None = None
    """By how much the peak falls where this memory is freed after its last use; `peak_basis` says how it is known."""
    peak_basis: str | None = None
    storages: frozenset[tuple[int, int]] = field(default=frozenset(), compare=False, repr=False)
    """Address and bytes of each storage that dropping the cut frees; good for this process alone."""
    storages_at: int = field(default=0, compare=False)
    """Step of the census in which `storages` were seen."""
    chain_entries: tuple[HoldingReference, ...] = field(default=(), repr=False)
    """Of a graph that grows behind one tensor: all names of tensors that lead to most of it, nearest first."""
    drops: tuple[Drop, ...] = field(default=(), compare=False, repr=False)
    """The references of the cut by address, for an experiment in the same process."""

    @property
    def grows(self) -> bool:
        """Whether it gains memory with the steps, if only between two falls."""
        return self.symptom in ("growth", "sawtooth")

    @property
    def swells(self) -> bool:
        """Whether bytes are gained by what is there, not by more objects."""
        return self.growth_bytes_per_step is not None and self.growth_objects_per_step is None
