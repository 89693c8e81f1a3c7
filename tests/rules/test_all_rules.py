import pytest

from suspects import SPECIMENS
from tenure.model.rule import Rule
from tenure.rules import all_rules

RULES = {rule.code: rule for rule in all_rules()}
ALSO_FITS = {
    *{("TN102", "TN103"), ("TN401", "TN403"), ("TN401", "TN404"), ("TN401", "TN405")},
    *{("TN101", "TN105"), ("TN101", "TN107"), ("TN101", "TN302")},
    *{("TN202", "TN201"), ("TN202", "TN204"), ("TN202", "TN205"), ("TN202", "TN303"), ("TN202", "TN305")},
    *{("TN202", "TN402"), ("TN202", "TN601")},
}
"""(rule, specimen of another): what is carried on ctx is a carried graph as well; the narrower cause comes first."""


def claimed_by(rule: Rule) -> list[str]:
    return [code for code, specimen in SPECIMENS.items() if rule.check_suspect(specimen) is not None]


@pytest.mark.parametrize("code", sorted(SPECIMENS))
def test_the_first_rule_that_claims_a_specimen_is_its_own_and_names_itself(code: str) -> None:
    found = next(finding for rule in all_rules() if (finding := rule.check_suspect(SPECIMENS[code])))

    assert (found.rule, found.name) == (code, RULES[code].name)


@pytest.mark.parametrize("code", sorted(SPECIMENS.keys() - {"TN900"}))
def test_a_rule_claims_its_own_and_refuses_the_others(code: str) -> None:
    also = {specimen for rule, specimen in ALSO_FITS if rule == code}

    assert set(claimed_by(RULES[code])) == {code} | also


def test_the_last_rule_claims_everything() -> None:
    assert all_rules()[-1].code == "TN900"
    assert claimed_by(RULES["TN900"]) == list(SPECIMENS)


def test_codes_and_names_are_not_used_twice() -> None:
    assert len(RULES) == len(all_rules()) == len({rule.name for rule in all_rules()})
