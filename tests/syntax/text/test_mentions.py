"""Words in a file's text."""

from tenure.model.source import SourceFile
from tenure.syntax.text.mentions import mentions, spellings


class Counted(str):
    """A text that counts how often it is searched."""

    num_searched = 0

    def __contains__(self, word: object) -> bool:
        self.num_searched += 1
        return super().__contains__(word)  # type: ignore[operator]


def test_a_text_is_searched_once_for_each_word_however_many_functions_ask() -> None:
    text = Counted("import composer\n")
    source = SourceFile("train.py", text)
    found = [(mentions(source, "composer"), mentions(source, "fairseq")) for _ in range(100)]
    assert (set(found), text.num_searched) == ({(True, False)}, 2)


def test_a_private_name_has_two_spellings() -> None:
    names = ("_Trainer__history", "_Trainer_history", "__history", "history", "_A__b__c")
    assert [spellings(name)[1:] for name in names] == [("__history",), (), (), (), ("__b__c",)]
