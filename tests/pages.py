"""The pages of the rules and the programs in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import tenure.rules

PAGES = Path(tenure.rules.__file__).parent / "pages"
MARK = re.compile(r"\s*# (?:error|lint): (TN\d{3})$")
RECORDED = re.compile(r"\s*# error: (TN\d{3})$")
"""What a run must yield; `# lint:` marks what the source alone shows, and a run need not."""

BLOCK = re.compile(r"^(By hand: [^\n]*\n\n)?```py\n(.*?)\n```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """One code block: the `number`th under its heading of the page of rule `code`."""

    code: str
    heading: str
    number: int
    text: str
    by_hand: bool = False
    """Whether the page says that no edit makes it."""

    @property
    def marks(self) -> list[tuple[str, int]]:
        """The (rule, line) pairs that the block's comments ask for."""
        lines = enumerate(self.text.splitlines(), start=1)
        return [(found[1], line) for line, text in lines if (found := MARK.search(text))]

    @property
    def recorded_marks(self) -> list[tuple[str, int]]:
        """Those that must be found when the block is run."""
        lines = enumerate(self.text.splitlines(), start=1)
        return [(found[1], line) for line, text in lines if (found := RECORDED.search(text))]

    @property
    def unmarked_lines(self) -> list[str]:
        return [MARK.sub("", line) for line in self.text.splitlines()]

    @property
    def unmarked_text(self) -> str:
        return "\n".join(self.unmarked_lines) + "\n"


def split_page(text: str) -> dict[str, str]:
    """Heading -> what stands under it; headings inside code blocks do not count."""
    sections: dict[str, list[str]] = {}
    current, in_code = "", False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        if line.startswith("## ") and not in_code:
            current = line.removeprefix("## ")
            assert current not in sections, f"two headings {current!r}"
        sections.setdefault(current, []).append(line)
    return {heading: "\n".join(lines) for heading, lines in sections.items()}


def read_programs(page: Path) -> list[Program]:
    code = page.stem.partition("-")[0]
    return [
        Program(code, heading, number, block[2] + "\n", by_hand=block[1] is not None)
        for heading, section in split_page(page.read_text(encoding="utf-8")).items()
        for number, block in enumerate(BLOCK.finditer(section), start=1)
    ]


PAGE_FILES = sorted(PAGES.glob("*.md"))
