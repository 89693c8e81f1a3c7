from processor import PromptProcessor
from train import main


class ReleasingProcessor(PromptProcessor):
    def prepare(self, prompts):
        count = super().prepare(prompts)
        self.embed = None
        return count


if __name__ == "__main__":
    main(ReleasingProcessor)
