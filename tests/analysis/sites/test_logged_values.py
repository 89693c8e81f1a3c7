from __future__ import annotations

import pytest

from tenure.analysis.sites.library_calls import by_the_users_call
from tenure.analysis.sites.logged_values import is_of_logging, logged_values
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference

MINE = "/home/me/monitor.py"
HANDLERS = "/usr/lib/python3.12/logging/handlers.py"


def given(text: str) -> tuple[str, list[int]]:
    name, sites = logged_values({MINE: SourceFile(MINE, text)})
    return name, [site.line for site in sites]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ('log.debug("loss %s", loss)', "loss"),
        ('self.log.info("step %d loss %r of %s", step, self.loss, name)', "loss"),
        ('logging.getLogger("x").log(10, "loss %s", out.loss)', "loss"),
        ('log.debug("%5.2f %% done, worst %10s", share, worst)', "worst"),
        ('log.error("refused", exc_info=True)', "exc_info"),
        ('log.exception("refused")', "exc_info"),
        ('log.debug("weights %s of %d", self.brief(weight), len(batch))', "brief"),
    ],
)
def test_what_a_record_refers_to_is_named_where_it_is_logged(call: str, name: str) -> None:
    assert given(f"import logging\n{call}\n") == (name, [2])


def test_what_is_known_for_a_tensor_comes_before_what_is_not() -> None:
    text = """
import torch
log.debug("loss %s ids %s", batch.loss, batch.id)
def watch(batch, outputs):
    posteriors = torch.exp(outputs)
    log.debug("clips %s posteriors %s", batch.id, posteriors)
"""

    assert given(text) == ("posteriors", [6, 3])


@pytest.mark.parametrize(
    "call",
    [
        'log.debug("step %d of %i", step, steps)',
        'log.debug(f"loss {loss}")',
        'log.debug("loss %s", loss.item())',
        'log.update("loss %s", loss)',
        "log.debug(loss)",
        "log.debug()",
        "math.log(2, loss)",
    ],
)
def test_records_of_text_and_numbers_and_other_calls_are_none(call: str) -> None:
    assert given(f"{call}\n") == ("", [])


def test_a_tensor_may_be_written_as_a_fraction_where_nothing_else_is_logged() -> None:
    assert given("log.debug('step %d loss %.3f', step, loss)\n") == ("loss", [1])
    assert given("log.debug('loss %.3f', loss)\nlog.debug('%s', batch)\n") == ("batch", [2])


def test_a_call_whose_result_is_logged_gives_way_to_what_is_logged_by_its_name() -> None:
    assert given("log.debug('%s', brief(x))\nlog.debug('%s', loss)\n") == ("loss", [2])


def test_all_calls_are_told_in_their_order_and_files_that_do_not_parse_are_passed_over() -> None:
    text = "def show(a, b):\n    log.debug('%s', a)\n\n\nlog.info('%s', c)\n"
    other = SourceFile("/home/me/broken.py", "log.debug('%s', x\n")
    library = SourceFile(HANDLERS, "log.debug('%s', record)\n", "library")

    assert logged_values({MINE: SourceFile(MINE, text), other.path: other, HANDLERS: library}) == (
        "a",
        (SourceLocation(MINE, 2, "show"), SourceLocation(MINE, 5, "<module>")),
    )


def test_the_line_of_a_handler_gives_way_to_the_call_that_logged() -> None:
    inside = SourceLocation(HANDLERS, 1324, "BufferingHandler.emit")
    reference = HoldingReference("attribute", "buffer", "held.buffer[*]", sites=(inside,), element=True)
    sources = {HANDLERS: SourceFile(HANDLERS, "", "library"), MINE: SourceFile(MINE, "log.debug('%s', out)\n")}
    silent = sources | {MINE: SourceFile(MINE, "print('log')\n")}
    found = by_the_users_call(reference, sources)

    assert (found.name, found.expression, [site.line for site in found.sites], found.library_sites) == (
        *("out", "held.buffer[*]", [1]),
        (inside,),
    )
    assert by_the_users_call(reference, silent) == reference
    assert [is_of_logging(path) for path in (HANDLERS, "/my/logging/mine.py", "/my/handlers.py")] == [
        True,
        False,
        False,
    ]
