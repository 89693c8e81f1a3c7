from recorder import EpisodeRecorder
from train import main


class BestOnlyRecorder(EpisodeRecorder):
    def begin(self, number):
        if self.episodes:
            self.episodes = [self.best()]
        super().begin(number)


if __name__ == "__main__":
    main(BestOnlyRecorder)
