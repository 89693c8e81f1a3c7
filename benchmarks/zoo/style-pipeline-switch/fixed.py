from studio import Studio
from train import main


class TidyStudio(Studio):
    def unload(self):
        if self.pipe is not None:
            self.bar.forget(self.pipe.style)
        super().unload()


if __name__ == "__main__":
    main(TidyStudio)
