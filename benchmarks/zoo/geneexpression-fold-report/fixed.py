from report import Report
from train import main


class PromptReport(Report):
    def add(self, name, text):
        line = text()
        super().add(name, lambda: line)


if __name__ == "__main__":
    main(PromptReport)
