import pytest

from heaps import census
from tenure.analysis.heap.groups import Shapes, view_census
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.wording import expression

CONTAINER = "torch.nn.modules.container"


@pytest.mark.parametrize(
    ("type_name", "label", "expected"),
    [
        (f"{CONTAINER}.ModuleDict", "vae", "zoo.parts['vae'].weight"),
        (f"{CONTAINER}.ModuleList", "0", "zoo.parts['0'].weight"),
        ("Parts", "vae", "zoo.parts.vae.weight"),
    ],
)
def test_what_a_dict_of_modules_has_goes_by_its_key_and_what_any_other_module_has_by_an_attribute(
    type_name: str, label: str, expected: str
) -> None:
    view = view_census(
        census(
            f"main(t.py:3).zoo -> Zoo -> .parts {type_name} -> ._modules dict -> ['{label}'] Vae"
            " -> .weight parameter 4KiB"
        ),
        Shapes(),
    )
    (storage,) = view.census.storages.node.tolist()

    assert expression(view.graph, path_to(view.graph, view.paths, storage)) == expected
