from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.settled_futures import discard_when_done


@pytest.mark.parametrize(
    ("added", "line"),
    [
        ("self.jobs.add(job)", "job.add_done_callback(self.jobs.discard)"),
        ("self.jobs.append(job)", "job.add_done_callback(self.jobs.remove)"),
        ("self.jobs.add(pool.submit(work))", None),
        ("self.jobs[0].add(job)", None),
        ("rows.add(job)", None),
    ],
)
def test_a_future_leaves_its_set_when_it_is_done(added: str, line: str | None) -> None:
    source = source_of(f"def submit(self, job):\n    {added}  # here\n")

    assert changes(source, discard_when_done(source, line_of(source), "jobs")) == ([line] if line else [])
