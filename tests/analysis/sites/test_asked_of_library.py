from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HISTORY
from tenure.analysis.sites.asked_of_library import by_the_call_that_asked
from tenure.model.source import SourceFile, SourceLocation

MINE = "/home/me/streams.py"
BATCHES = replace(HISTORY, name="batches", inside="itertools.cycle", sites=(SourceLocation(MINE, 9, "main"),))
CALLS = replace(HISTORY, kind="attribute", name="_mock_mock_calls", owner_type="unittest.mock.MagicMock", sites=())


@pytest.mark.parametrize(
    "text",
    [
        "import itertools\nbatches = itertools.cycle(loader)\n",
        "from itertools import cycle\nbatches = cycle(loader)\n",
        "import itertools as it\nbatches = it.chain(it.cycle(loader), it.repeat(x))\n",
    ],
)
def test_what_a_cycle_keeps_is_told_where_the_program_makes_it(text: str) -> None:
    found = by_the_call_that_asked(BATCHES, {MINE: SourceFile(MINE, text)})

    assert found == replace(BATCHES, name="cycle", sites=(SourceLocation(MINE, 2, "<module>"),))


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        ("from unittest import mock\nwith mock.patch.object(losses, 'l1'):\n    fit()\n", "mock.patch.object", [2]),
        ("import unittest.mock\n\nunittest.mock.patch('a.b')\n", "unittest.mock.patch", [3]),
        (
            "from unittest.mock import MagicMock as Spy, patch\npatch('a.b')\nspy = Spy()\nother = Spy()\n",
            "Spy",
            [3, 4],
        ),
    ],
)
def test_what_no_statement_stores_is_told_where_the_program_asks_the_librarys_module(
    text: str, name: str, lines: list[int]
) -> None:
    found = by_the_call_that_asked(CALLS, {MINE: SourceFile(MINE, text)})

    assert (found.name, [site.line for site in found.sites]) == (name, lines)


@pytest.mark.parametrize(
    "source",
    [
        SourceFile(MINE, "from mine import mock\nmock.patch(x)\n"),
        SourceFile(MINE, "from .unittest import mock\nmock.patch(x)\n"),
        SourceFile(MINE, "mock.patch(x)\n"),
        SourceFile(MINE, "from unittest import mock\nmock.patch(\n"),
        SourceFile("/usr/lib/python3/unittest/mock.py", "from unittest import mock\nmock.patch(x)\n", "library"),
    ],
)
def test_calls_of_something_else_in_broken_files_and_of_libraries_tell_nothing(source: SourceFile) -> None:
    assert by_the_call_that_asked(CALLS, {source.path: source}) == CALLS


def test_a_reference_whose_statement_is_known_stays_there() -> None:
    stored = replace(CALLS, sites=(SourceLocation(MINE, 9, "main"),))
    sources = {MINE: SourceFile(MINE, "from unittest import mock\nmock.patch(x)\n")}

    assert by_the_call_that_asked(stored, sources) == stored
    assert by_the_call_that_asked(replace(CALLS, owner_type="Spy"), sources) == replace(CALLS, owner_type="Spy")


VAE = replace(
    HISTORY, kind="attribute", name="vae", owner_type="diffusers.pipelines.sd.pipeline_sd.SDPipeline", sites=()
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("from diffusers import SDPipeline\npipeline = SDPipeline(vae=vae, unet=unet)\n", [2]),
        ("import diffusers\npipeline = diffusers.SDPipeline(vae=load())\n", [2]),
        ("from diffusers import SDPipeline\npipeline = SDPipeline(unet=unet)\n", []),
        ("from mine import SDPipeline\npipeline = SDPipeline(vae=vae)\n", []),
    ],
    ids=["as the package offers it", "by the package", "without the argument", "another package's"],
)
def test_what_a_librarys_object_was_given_by_name_is_told_where_it_is_given(text: str, lines: list[int]) -> None:
    found = by_the_call_that_asked(VAE, {MINE: SourceFile(MINE, text)})

    assert (found.name, [site.line for site in found.sites]) == ("vae", lines)
