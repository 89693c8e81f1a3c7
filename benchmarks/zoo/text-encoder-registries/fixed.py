from prompts import PromptProcessor
from train import main


class UnloadingProcessor(PromptProcessor):
    def unload(self):
        self.encode = None
        return super().unload()


if __name__ == "__main__":
    main(UnloadingProcessor)
