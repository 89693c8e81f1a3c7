from dataclasses import replace

from suspects import HISTORY, finding, suspect
from tenure.model.finding import Remedy
from tenure.rules.library_calls import with_library_call

TABLE = replace(
    HISTORY,
    kind="attribute",
    name="_models",
    expression="self.accelerator._models[*]",
    owner_type="accelerate.accelerator.Accelerator",
)
FOUND = finding("keep less", rule="TN404", name="n", message="m")


def test_the_librarys_own_call_is_the_first_remedy_for_what_its_object_keeps() -> None:
    assert with_library_call(FOUND, suspect(holder=TABLE)) == replace(
        FOUND,
        remedies=(
            Remedy(
                "`self.accelerator.free_memory(model, optimizer)` when they are done with: it empties the tables of "
                "all that was prepared and returns a None for each name to be bound to"
            ),
            Remedy("keep less"),
        ),
    )


def test_what_other_objects_keep_has_the_remedies_of_its_rule_alone() -> None:
    assert with_library_call(FOUND, suspect(holder=replace(TABLE, owner_type="trainer.Trainer"))) == FOUND
    assert with_library_call(FOUND, suspect(holder=replace(TABLE, kind="local"))) == FOUND


def test_what_a_librarys_object_keeps_by_itself_has_what_to_use_instead_as_the_first_remedy() -> None:
    cycled = with_library_call(FOUND, suspect(holder=replace(HISTORY, inside="itertools.cycle")))
    mocked = with_library_call(FOUND, suspect(holder=replace(TABLE, owner_type="unittest.mock.AsyncMock")))

    assert cycled.remedies == (
        Remedy(
            "`while True: yield from loader` in a function: `itertools.cycle` keeps all that the first pass gave, and "
            "gives the same again instead of asking the loader"
        ),
        Remedy("keep less"),
    )
    assert mocked.remedies == (
        Remedy(
            "`reset_mock()` after each look: a mock keeps the arguments of every call; where the number of calls is "
            "all that is wanted, count in a function of your own"
        ),
        Remedy("keep less"),
    )
