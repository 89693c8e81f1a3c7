"""`tenure explain`: the page of a rule."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tenure.errors import UsageError

PAGES = Path(__file__).resolve().parent.parent / "rules" / "pages"


@click.command("explain", short_help="Print a rule's page: what happens, how to fix it.")
@click.argument("rule", metavar="[CODE]", required=False)
def explain_command(rule: str | None) -> None:
    """Print the page of a rule, named by its code (TN102) or its name; without one, a line for each rule."""
    if rule is None:
        list_rules(pages=PAGES)
    else:
        show_page(find_page(rule, pages=PAGES).read_text(encoding="utf-8"))


def list_rules(*, pages: Path) -> None:
    """Code, name and what it finds, a line each: a page's heading and its first sentence."""
    for file in sorted(pages.glob("TN*.md")):
        code, _, name = file.stem.partition("-")
        _, _, first, *_ = file.read_text(encoding="utf-8").splitlines()
        click.echo(f"{code}  {name:32}  {first}")


def find_page(rule: str, *, pages: Path) -> Path:
    """The page's file; UsageError with the codes there are where no page matches."""
    wanted = rule.strip().upper()
    files = sorted(pages.glob("TN*.md"))
    for file in files:
        code, _, name = file.stem.partition("-")
        if wanted in (code, code.removeprefix("TN"), name.upper(), file.stem.upper()):
            return file
    known = ", ".join(file.stem.partition("-")[0] for file in files) or "none installed"
    raise UsageError(f"there is no rule {rule!r}; there are: {known}")


def show_page(text: str) -> None:
    """Drawn in a terminal, as it is into a file or pipe."""
    if not sys.stdout.isatty():
        click.echo(text, nl=not text.endswith("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=min(Console().width, 110))
    console.print(Markdown(text))
