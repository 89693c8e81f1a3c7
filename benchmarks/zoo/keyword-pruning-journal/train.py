import torch
from journal import Journal
from pruning import Pruning
from spotter import Spotter, utterances


def main(journal_class=Journal):
    torch.manual_seed(81)
    widths = list(range(440, 280, -10))
    journal = journal_class()
    Pruning(Spotter(widths[0]), journal, utterances()).rounds(widths, 4)
    print(*journal.table(), sep="\n")


if __name__ == "__main__":
    main()
