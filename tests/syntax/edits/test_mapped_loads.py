from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.edits.mapped_loads import load_to_host, map_load


def change(text: str) -> str:
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "torch.load" in line)
    return apply_edits(text, map_load(SourceFile("t.py", text), line))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("state = torch.load(path)", "state = torch.load(path, mmap=True)"),
        (
            "self.state = torch.load(path, weights_only=True)",
            "self.state = torch.load(path, weights_only=True, mmap=True)",
        ),
        ("net.load_state_dict(torch.load(path)['model'])", "net.load_state_dict(torch.load(path, mmap=True)['model'])"),
        ("shards = [torch.load(each) for each in files]", "shards = [torch.load(each, mmap=True) for each in files]"),
    ],
)
def test_what_is_read_from_a_file_is_mapped(old: str, new: str) -> None:
    assert change(f"{old}\n") == f"{new}\n"


@pytest.mark.parametrize(
    "text",
    [
        "state = torch.load(path, mmap=False)\n",
        "state = torch.load(io.BytesIO(data))\n",
        "state = torch.load(open(path, 'rb'))\n",
        "with open(path, 'rb') as file:\n    state = torch.load(file)\n",
        "buffer = io.BytesIO()\nstate = torch.load(buffer)\n",
        "states = torch.load(one), torch.load(two)\n",
        "state = torch.load()\n",
    ],
)
def test_what_says_so_itself_or_has_no_file_name_and_what_is_not_alone_stays(text: str) -> None:
    assert change(text) == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("state = torch.load(path)", 'state = torch.load(path, map_location="cpu")'),
        (
            "state = torch.load(file, weights_only=True)",
            'state = torch.load(file, weights_only=True, map_location="cpu")',
        ),
        ("state = torch.load(path, 'cuda')", "state = torch.load(path, 'cuda')"),
        ("state = torch.load(path, map_location=device)", "state = torch.load(path, map_location=device)"),
        ("state = torch.load(path, **options)", "state = torch.load(path, **options)"),
    ],
)
def test_what_goes_to_a_device_is_read_into_the_host_s_memory_first_unless_it_says_where(old: str, new: str) -> None:
    assert apply_edits(old, load_to_host(SourceFile("t.py", old), 1)) == new


def test_a_statement_that_loads_nothing_and_a_file_that_is_no_python_get_no_edit() -> None:
    sources = (SourceFile("t.py", "state = build()\n"), SourceFile("t.py", "state = (\n"))

    assert [map_load(source, 1) for source in sources] == [(), ()]
