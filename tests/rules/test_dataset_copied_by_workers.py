from __future__ import annotations

import dataclasses

from suspects import MIB, SPECIMENS
from tenure.model.finding import Holder
from tenure.rules.dataset_copied_by_workers import check_suspect


def test_a_container_that_workers_copy_is_named_with_what_the_kernel_counts() -> None:
    found = check_suspect(SPECIMENS["TN602"])

    assert found is not None
    assert (found.rule, found.symptom, found.confidence, found.cut) == ("TN602", "host", "likely", ())
    assert found.holder == Holder("attribute", "samples", "loader.dataset.samples", "/projects/asr/train.py", 24, "fit")
    assert found.message == (
        "`loader.dataset.samples` (60,000 × `dict`) is copied by being read: reading writes reference counts. By step "
        "3 the 2 workers looked at have copied 3.00 MiB of what was shared with this process after the fork, 1.00 MiB "
        "per step."
    )
    assert found.retained_bytes == 3 * MIB


def test_without_its_statement_it_is_a_possibility() -> None:
    known = SPECIMENS["TN602"]
    found = check_suspect(dataclasses.replace(known, holder=dataclasses.replace(known.holder, sites=())))

    assert found is not None
    assert found.confidence == "possible"
