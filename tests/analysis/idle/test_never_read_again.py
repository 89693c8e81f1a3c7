from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.heap.groups import search
from tenure.analysis.idle.never_read_again import find_never_read_again
from tenure.model.source import SourceFile
from tenure.model.suspect import UNREAD_MODULE

MIB = 1 << 20
SOURCE = """
def main(steps):
    raw, extra = load()
    data = normalise(raw)
    model = build()
    for step in range(steps):
        model(data)
    return extra
"""
WEIGHTS = "main(train.py:7).model -> __main__.Model -> ._parameters dict -> ['w'] parameter#w 2MiB"
DATA = "main(train.py:7).data -> tensor#data 2MiB"
RAW = "main(train.py:7).raw -> list -> [0] tensor#raw 4MiB"
STEPS = (1, 2, 4, 8)


def found(*lines: str, last: str = "", source: str = SOURCE, steps: tuple[int, ...] = STEPS) -> list[object]:
    """Cut and bytes off the peak, of what nobody reads again in a run of these steps."""
    text = "\n".join((WEIGHTS, DATA, *lines))
    censuses = [census(text + (last if step == steps[-1] else ""), step=step) for step in steps]
    sources = {"train.py": SourceFile("train.py", source)}
    return [
        ([reference.expression for reference in each.cut], each.peak_drop_bytes)
        for each in find_never_read_again([search(census) for census in censuses], sources)
    ]


def test_what_the_loop_does_not_read_and_nothing_behind_it() -> None:
    assert found(RAW) == [(["raw"], 4 * MIB)]


def test_two_names_of_the_same_memory_are_dropped_together() -> None:
    assert found(
        RAW, "main(train.py:7).step -> dict -> ['x'] tensor#raw", source=SOURCE.replace("step in", "_ in")
    ) == [(["raw", "step"], 4 * MIB)]


@pytest.mark.parametrize(
    ("held", "module"),
    [
        ("raw -> __main__.Teacher -> ._parameters dict -> ['w'] parameter 4MiB", "__main__.Teacher"),
        ("raw -> list -> [0] __main__.Teacher -> ._parameters dict -> ['w'] parameter 4MiB", None),
        ("raw -> __main__.Teacher#t -> ._parameters dict -> ['w'] parameter 4MiB\n"
         "main(train.py:7).raw -> __main__.Teacher#t -> .seen tensor 4MiB", None),
        ("raw tensor 4MiB", None),
    ],
)  # fmt: skip
def test_a_module_that_nobody_reads_again_is_known_by_its_weights(held: str, module: str | None) -> None:
    texts = ["\n".join((WEIGHTS, DATA, f"main(train.py:7).{held.replace('raw tensor', 'raw -> tensor')}"))] * len(STEPS)
    censuses = [census(text, step=number) for text, number in zip(texts, STEPS, strict=True)]

    (suspect,) = find_never_read_again(
        [search(census) for census in censuses], {"train.py": SourceFile("train.py", SOURCE)}
    )

    assert suspect.facts.get(UNREAD_MODULE) == module


@pytest.mark.parametrize(
    "other",
    [
        "main(train.py:7).extra -> list -> [0] tensor#raw",
        "main(train.py:7).model -> __main__.Model -> .raw tensor#raw",
        "store.CACHE -> list -> [0] tensor#raw",
    ],
)
def test_what_somebody_else_holds_too_would_not_be_freed(other: str) -> None:
    assert found(RAW, other) == []


@pytest.mark.parametrize(
    ("method", "told"), [("__del__", []), ("close", [(["raw"], 4 * MIB)]), ("__exit__", [(["raw"], 4 * MIB)])]
)
def test_an_object_that_does_something_as_it_goes_is_read_then(method: str, told: list[object]) -> None:
    """As a sheet that compares a scan with what was learnt of it, once the function has ended."""
    sheet = f"class Sheet:\n    def {method}(self, *args):\n        print(self.scan.mean())\n"

    assert found("main(train.py:7).raw -> train.Sheet -> .scan tensor 4MiB", source=SOURCE + sheet) == told


def test_what_is_read_behind_the_loop_waits_for_that() -> None:
    assert found("main(train.py:7).extra -> tensor#extra 4MiB") == []


def test_what_came_with_the_last_step_may_go_with_the_next() -> None:
    assert found(last=f"\n{RAW}") == []


def test_little_is_no_news() -> None:
    assert found(RAW.replace("4MiB", "100KiB")) == []


def test_a_function_whose_text_is_not_known_may_read_everything() -> None:
    assert found(RAW, source="def other():\n    pass\n") == []
    assert found(RAW.replace("main(train.py:7)", "other(unknown.py:7)")) == []


def test_a_single_moment_says_nothing() -> None:
    assert found(RAW, steps=(1, 2)) == []


IN_CALLS = """
def main(steps):
    raw = load()
    fit(steps)


def fit(steps):
    for step in range(steps):
        train_step(model)


def train_step(model):
    batch = load()
    model(batch)
"""


def test_what_a_function_holds_that_a_loop_calls_anew_only_seems_to_last() -> None:
    step = "train_step(train.py:14).batch -> tensor#batch 4MiB"
    loop = "fit(train.py:9).model -> __main__.Model -> ._parameters dict -> ['w'] parameter#w 2MiB"
    outside = "main(train.py:4).raw -> tensor#raw 4MiB"
    texts = ["\n".join((step, loop, outside))] * 4
    censuses = [census(text, step=number) for text, number in zip(texts, STEPS, strict=True)]
    (suspect,) = find_never_read_again(
        [search(census) for census in censuses], {"train.py": SourceFile("train.py", IN_CALLS)}
    )
    assert [reference.expression for reference in suspect.cut] == ["raw"]


def test_what_was_read_until_shortly_before_the_end_was_needed_till_then() -> None:
    """After the loop, in the program's last call of a model, hardly anything is read any more."""
    after = "main(train.py:9).raw -> tensor#raw 4MiB"
    source = """
def main(steps):
    raw = load()
    model = build()
    for step in range(steps):
        model(raw)
        follow(raw)
    print(model)
    model.evaluate()
"""
    texts = [after.replace(":9)", ":6)")] * 3 + [after]
    model = "main(train.py:6).model -> __main__.Model -> ._parameters dict -> ['w'] parameter#w 2MiB"
    censuses = [
        census(text + "\n" + (model if ":6)" in text else model.replace(":6)", ":9)")), step=step)
        for text, step in zip(texts, STEPS, strict=True)
    ]
    assert (
        find_never_read_again([search(census) for census in censuses], {"train.py": SourceFile("train.py", source)})
        == ()
    )


SHARDS = """
def tiles(shards):
    for shard in shards:
        packed = shard.read()
        whole = unpack(packed)
        for tile in whole:
            yield tile


def main(shards):
    model = build()
    data = tiles(shards)
    for tile in data:
        model(tile)
"""
WAITING = "main(train.py:14).data -> generator#{made} at=g{made} file=train.py:7 name=tiles -> "


def found_in_shards(*lines: str, source: str = SHARDS) -> list[object]:
    """As `found`, where each of the four censuses sees another shard's memory."""
    weights, sources = WEIGHTS.replace(":7)", ":14)"), {"train.py": SourceFile("train.py", source)}
    censuses = [
        census("\n".join((weights, *lines)).replace("{made}", str(step // 4)).replace("{step}", str(step)), step=step)
        for step in STEPS
    ]
    return [
        ([reference.expression for reference in each.cut], each.peak_drop_bytes)
        for each in find_never_read_again([search(census) for census in censuses], sources)
    ]


PACKED = WAITING + "<local packed> tensor#packed{step} at=p{step} 4MiB"
WHOLE = WAITING + "<local whole> tensor#whole{step} at=w{step} 4MiB"


def test_a_generator_that_waits_in_its_inner_loop_keeps_what_only_its_outer_loop_reads() -> None:
    assert found_in_shards(PACKED, WHOLE) == [(["packed"], 4 * MIB)]


def test_what_a_generator_hands_on_from_is_read_again() -> None:
    assert found_in_shards(WHOLE) == []
    assert found_in_shards(PACKED, source=SHARDS.replace("yield tile", "yield tile, packed")) == []


ROLLOUTS = """
def rollouts(policy, prompts):
    for prompt in prompts:
        outputs = policy(prompt)
        scores = rate(outputs)
        yield scores


def main():
    model = build()
    for scores in rollouts(model, prompts()):
        for part in scores:
            learn(model, part)
"""
ROLLING = "main(train.py:13).<iterator> -> generator#g at=g file=train.py:6 name=rollouts -> "
OUTPUTS = ROLLING + "<local outputs> tensor#o{step} at=o{step} {size}MiB"
AT_WORK = "rollouts(train.py:4).prompt -> tensor 4B"


def found_in_rollouts(at_work: int, *lines: str, size: int = 4) -> list[object]:
    """As `found`; in the census of one step the generator is at work instead of waiting."""
    weights, sources = WEIGHTS.replace(":7)", ":14)"), {"train.py": SourceFile("train.py", ROLLOUTS)}
    drawn = {step: [AT_WORK] if step == at_work else [*lines] for step in STEPS}
    censuses = [
        census("\n".join((weights, *drawn[step])).replace("{step}", str(step)).replace("{size}", str(size)), step=step)
        for step in STEPS
    ]
    return [
        ([reference.expression for reference in each.cut], each.peak_drop_bytes, each.facts.get("share_in_generator"))
        for each in find_never_read_again([search(census) for census in censuses], sources)
    ]


@pytest.mark.parametrize("at_work", [0, STEPS[-2]])
def test_what_a_generator_used_for_what_it_has_handed_out_idles_until_it_goes_on(at_work: int) -> None:
    """That it was at work in between says nothing: the next turn's outputs take the place of the last one's."""
    found = found_in_rollouts(at_work, OUTPUTS)

    assert [each[:2] for each in found] == [(["outputs"], 4 * MIB)]  # type: ignore[index]
    assert 0 < found[0][2] < 1  # type: ignore[index]


def test_a_variable_that_holds_next_to_nothing_of_it_is_not_named() -> None:
    small = ROLLING + "<local prompt> tensor#p{step} at=p{step} 4KiB"

    assert [each[:2] for each in found_in_rollouts(0, OUTPUTS, small)] == [(["outputs"], 4 * MIB)]  # type: ignore[index]


def test_a_generator_that_waits_outside_of_its_loops_may_be_a_new_one_in_each_turn() -> None:
    once = SHARDS.replace("    for shard in shards:\n", "    if shards:\n").replace("for tile in whole:", "if whole:")

    assert found_in_shards(PACKED, source=once) == []
