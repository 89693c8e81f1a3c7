from mixing import PromptMixer
from train import main


class ClosedMixer(PromptMixer):
    def close(self):
        super().close()
        self.embed = None


if __name__ == "__main__":
    main(ClosedMixer)
