from journal import EpochJournal
from train import main


class PlainJournal(EpochJournal):
    def note(self, **values):
        super().note(**{task: value.detach() for task, value in values.items()})


if __name__ == "__main__":
    main(PlainJournal)
