"""Write a new rule and its page, ready to fail: scripts/new_rule.py TN302 queue-never-drained

Two files are made and nothing else is to touch: the rule under src/tenure/rules, which claims nothing yet, and its
page under src/tenure/rules/pages, whose leaking program therefore is not found. `make check` and the page's tests
(`WHOLE_PAGES=1 pytest tests/test_rule_pages.py -k TN302`) then say what is missing.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

RULES = Path(__file__).resolve().parent.parent / "src" / "tenure" / "rules"

RULE_TEXT = '''\
"""{code}: {summary}"""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, subject


def check_suspect(suspect: Suspect) -> Finding | None:
    """TODO: which suspects are this cause; none yet."""
    if suspect.facts.get("{code}") is None:
        return None
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{{subject(suspect)}} TODO: what it does, in one sentence.",
        remedies=("TODO: the smallest change that ends it",),
    )


RULE = Rule(
    code="{code}",
    name="{name}",
    summary="{summary}",
    check_suspect=check_suspect,
    priority=50,
)
'''

PAGE_TEXT = """\
# {code} {name}

{summary}

## What happens

TODO: the mechanism; why the bytes stay; what it looks like in a profile; what it costs.
One sentence per line.

## Leaks

```py
{leaking}```

## Does not leak

```py
{healthy}```

## Fix

```py
{mended}```

## Not seen

TODO: what the rule misses, and knows it.

## References

- TODO: the issue or pull request in which it was found, and the figures given there.
"""

PROGRAM_TEXT = """\
import torch
from torch import nn


def train_step(model, optimizer, kept):
    features = torch.randn(1024, 256)
    loss = model(features).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
{keep}

def train(steps=24):
    torch.manual_seed(0)
    model = nn.Linear(256, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    kept = []
    for _ in range(steps):
        train_step(model, optimizer, kept)
    print(len(kept))


train()
"""


def write_rule(code: str, name: str, summary: str, *, rules: Path = RULES) -> tuple[Path, Path]:
    """The two files made; FileExistsError where the code, the name or a file is taken."""
    taken = [page.stem for page in (rules / "pages").glob("*.md")]
    for known in taken:
        known_code, _, known_name = known.partition("-")
        if code == known_code or name == known_name:
            raise FileExistsError(f"{known} exists already")
    rule, page = rules / f"{name.replace('-', '_')}.py", rules / "pages" / f"{code}-{name}.md"
    with rule.open("x", encoding="utf-8") as file:
        file.write(RULE_TEXT.format(code=code, name=name, summary=summary))
    with page.open("x", encoding="utf-8") as file:
        file.write(render_page(code, name, summary))
    return rule, page


def render_page(code: str, name: str, summary: str) -> str:
    """The page with a program that leaks, one that does not, and the first one mended."""
    return PAGE_TEXT.format(
        code=code,
        name=name,
        summary=summary,
        leaking=PROGRAM_TEXT.format(keep=f"    kept.append(features)  # error: {code}\n"),
        healthy=PROGRAM_TEXT.format(keep="    kept[:] = [features]\n"),
        mended=PROGRAM_TEXT.format(keep="    kept.append(features.mean().item())\n"),
    )


def main() -> int:
    """0, or 2 with one line on stderr where the request cannot be carried out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("code", help="TN and three digits; docs/rules shows the families")
    parser.add_argument("name", help="the pattern, lower case with hyphens; reads well after `allow`")
    parser.add_argument("--summary", default="TODO: the cause in one sentence.")
    arguments = parser.parse_args()
    if not re.fullmatch(r"TN\d{3}", arguments.code):
        parser.error(f"{arguments.code!r} is no code such as TN302")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", arguments.name):
        parser.error(f"{arguments.name!r} is no name such as queue-never-drained")
    try:
        files = write_rule(arguments.code, arguments.name, arguments.summary)
    except FileExistsError as error:
        print(f"new_rule: {error}", file=sys.stderr)
        return 2
    for file in files:
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
