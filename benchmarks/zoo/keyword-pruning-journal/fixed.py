from types import SimpleNamespace

from journal import Journal
from train import main


class SettingsJournal(Journal):
    def open(self, width, optimizer):
        group = {name: value for name, value in optimizer.param_groups[0].items() if name != "params"}
        return super().open(width, SimpleNamespace(param_groups=[group]))


if __name__ == "__main__":
    main(SettingsJournal)
