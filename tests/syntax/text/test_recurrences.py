from __future__ import annotations

import pytest

from tenure.syntax.text.recurrences import is_made_from


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("0.9 * self.level + 0.1 * loss", True),
        ("loss if self.level is None else self.level.lerp(loss, 0.1)", True),
        ("torch.lerp(self.level, loss, 0.1)", True),
        ("self.cell(x, self.level)", True),
        ("self.cell(x, self.level)[0]", True),
        ("(0.9 * self.level + loss).detach()", True),
        ("0.9 * self.metrics['level'] + loss", False),
        ("(x, level - x)", True),
        ("await blend(level, x)", True),
        ("-level", True),
        ("self.level", False),
        ("loss if level is None else loss.clone()", False),
        ("min(self.level, loss)", False),
        ("min(self.level + loss, loss)", True),
        ("self.level.detach().clone()", False),
        ("{'level': level}", False),
        ("yield level", False),
        ("max(0.9 * level + loss, (cut", True),
        ("max(0.9 * other + loss, (cut", False),
    ],
)
def test_a_value_is_made_from_a_name_where_it_is_computed_from_it(value: str, made: bool) -> None:
    assert is_made_from(value, ("level",)) is made
