from __future__ import annotations

from tenure.model.plan import Constant
from tenure.planning.constants import constants_of

CONTEXT = Constant("CUDA context", None, None, "hundreds of MiB by device, driver and kernels that are loaded")


def test_a_workspace_for_each_thread_that_multiplies_as_large_as_torch_makes_it() -> None:
    found = constants_of(2, is_distributed=False, environment={})

    source = "torch's default, the larger since Hopper, 2 times: one for each thread that multiplies, autograd's too"
    assert found == (Constant("cuBLAS workspaces", 2 * 8_519_680, 2 * (33 << 20), source), CONTEXT)


def test_the_environment_may_have_chosen_it() -> None:
    found = constants_of(1, is_distributed=False, environment={"CUBLAS_WORKSPACE_CONFIG": ":16:8"})

    assert found[0] == Constant("cuBLAS workspaces", 16 * 8 * 1024, 16 * 8 * 1024, "CUBLAS_WORKSPACE_CONFIG=:16:8")


def test_what_is_not_known_is_named_and_has_no_size() -> None:
    names = [(each.name, each.most_bytes) for each in constants_of(0, is_distributed=True, environment={})]

    assert names == [("CUDA context", None), ("communication buffers", None)]
