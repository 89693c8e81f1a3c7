from __future__ import annotations

from suspects import suspect
from tenure.analysis.host.autocast_regions import by_the_region
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import Hop
from tenure.rules.hidden_root_holds import check_suspect

PLAN = """
def search(candidates):
    with torch.autocast("cpu", cache_enabled=False):
        rate(candidates)
    with torch.autocast("cpu", enabled=False):
        fit(candidates)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        simulate(candidates)
"""
CACHED = Hop("NATIVE", "graph of a copy", "HIDDEN", "", "autocast weight cache", "TENSOR", "torch.nn.Parameter")


def test_what_only_the_cache_of_a_region_holds_is_told_where_the_region_begins() -> None:
    kept, other = suspect(path=(CACHED,), path_text=("autocast weight cache: graph of a copy",)), suspect()

    region, same = by_the_region([kept, other], {"plan.py": SourceFile("plan.py", PLAN)})

    assert same == other
    assert (region.holder.name, region.holder.sites) == ("autocast", (SourceLocation("plan.py", 7, "search"),))
    finding = check_suspect(region)
    assert finding is not None
    assert finding.message == (
        "An autocast region keeps a cast of each weight that it meets, and the weight, until its outermost region "
        "ends: 1.00 MiB per step."
    )


def test_without_a_call_in_the_programs_sources_it_has_no_place() -> None:
    kept = suspect(path=(CACHED,))

    (region,) = by_the_region([kept], {})

    assert (region.holder.name, region.holder.sites) == ("autocast", ())
