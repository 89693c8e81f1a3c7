"""TN103: tensors set as attributes on a custom autograd Function's ctx outlive backward."""

import ast
from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth
from tenure.rules.path_questions import short_type
from tenure.rules.source_claim import claim_source
from tenure.syntax.edits.saved_on_ctx import save_for_backward
from tenure.syntax.kept.outputs_on_ctx import find_outputs_on_ctx
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name

_MOST_KEEPERS = 3
_WITHOUT_GRAPH = "or keep no graph past its backward pass: `.detach()`, `.item()`, `del` after the last use"


def check_suspect(suspect: Suspect) -> Finding | None:
    """The memory is held by an attribute of a custom Function's ctx, and nothing of the user's but the ctx holds it; or
    by what it saves for backward, where nothing but that leads to it."""
    if suspect.holder.kind == "saved" and suspect.symptom == "growth":
        return _saved_with_its_graph(suspect)
    on_ctx = suspect.facts.get("ctx_attribute")
    if not on_ctx or not (suspect.cyclic or suspect.holder.owner_type.endswith("Backward")):
        return None
    function = str(suspect.facts.get("ctx_type", "a custom Function")).rpartition(".")[2].removesuffix("Backward")
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=_message(suspect, str(on_ctx), function),
        remedies=(
            f"pass {'them' if _others(suspect, str(on_ctx)) else 'it'} through `ctx.save_for_backward(...)` and read "
            "`ctx.saved_tensors`: those are freed by backward, and an output saved that way makes no cycle",
            *(() if suspect.cyclic or not _while_kept(suspect) else (_WITHOUT_GRAPH,)),
        ),
    )


def _saved_with_its_graph(suspect: Suspect) -> Finding:
    """A view of an output has a graph of its own, which leads back to the node that saved it."""
    function = short_type(suspect.holder.owner_type).removesuffix("Backward")
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`save_for_backward` of {function} keeps tensors that lead back to its own node, as a view of its "
        f"output does: {growth(suspect)} where no backward pass follows, and no collection frees them.",
        remedies=(
            "save the inputs or the output itself and take views of it in backward",
            "call it under `torch.no_grad()` where nothing is trained through it",
        ),
    )


def _others(suspect: Suspect, on_ctx: str) -> tuple[str, ...]:
    """Further attributes of the ctx that close the ring: one alone frees nothing, or half."""
    same = (each.name for each in suspect.cut if each.owner_type == suspect.holder.owner_type)
    return tuple(name for name in same if name != on_ctx) if suspect.cyclic else ()


def _message(suspect: Suspect, on_ctx: str, function: str) -> str:
    ring = "through its own graph" if suspect.cyclic else ""
    names = [f"`ctx.{name}`" for name in (on_ctx, *_others(suspect, on_ctx))]
    if len(names) == 1:
        closes = f", and closes a cycle {ring}" if ring else _while_kept(suspect)
        return f"{names[0]} of {function} keeps a tensor where backward does not free it{closes}."
    kept = f"{', '.join(names[:-1])} and {names[-1]} of {function}"
    return f"{kept} keep tensors where backward does not free them, and each closes a cycle {ring}."


def _while_kept(suspect: Suspect) -> str:
    """Who keeps the graphs whose nodes have it, and how much that comes to."""
    keepers = [f"`{each.expression or each.name}`" for each in suspect.cut if each.name != suspect.holder.name]
    if not keepers or not suspect.grows:
        return ""
    keep = "keep" if len(keepers) > 1 else "keeps"
    gained = suspect.growth_bytes_per_step
    how_fast = f"{format_bytes(gained)} per step" if gained else growth(suspect)
    return f", while {' and '.join(keepers[:_MOST_KEEPERS])} {keep} its graph: {how_fast}"


def check_source(program: Program) -> Iterator[SourceFinding]:
    """`ctx.y = y` for a `y` that forward returns (a ring), or that it computes for backward (backward frees it not)."""
    for stored in find_outputs_on_ctx(program):
        by_call = isinstance(stored.statement, ast.Call) and called_name(stored.statement) == stored.attribute
        where = f"`{stored.attribute}({stored.ctx}, ...)`" if by_call else f"`{stored.ctx}.{stored.attribute}`"
        ring = (
            f"{where} keeps an output of {stored.function.class_name}, and so a ring through its own graph, which only "
            "the collector frees."
        )
        computed = f"{where} keeps a tensor that forward computes: backward does not free it, the graph's end does."
        yield claim_source(
            stored.function,
            stored.statement,
            rule=RULE.code,
            name=RULE.name,
            message=ring if stored.is_output else computed,
            remedy=f"`{stored.ctx}.save_for_backward(...)` keeps tensors without a ring, and lets backward free them",
            edits=()
            if isinstance(stored.statement, ast.Call)
            else save_for_backward(stored.function.source, stored.attribute, stored.statement.lineno, None),
        )


RULE = Rule(
    code="TN103",
    name="tensors-kept-on-ctx",
    summary="A tensor set on a custom Function's ctx stays until the graph goes; an output set there makes a cycle.",
    check_suspect=check_suspect,
    priority=10,
    edit="save-for-backward",
    check_source=check_source,
)
