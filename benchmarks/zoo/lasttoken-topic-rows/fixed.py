from explorer import TopicExplorer
from train import main


class RowExplorer(TopicExplorer):
    def collect(self, output, topics):
        super().collect(output, topics)
        self.vectors[-1] = self.vectors[-1].clone()


if __name__ == "__main__":
    main(RowExplorer)
