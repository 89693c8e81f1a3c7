from archive import Archive
from train import main


class CopyingArchive(Archive):
    def offer(self, genome, behaviour, fitness, born):
        return super().offer(genome.clone(), behaviour, fitness, born)


if __name__ == "__main__":
    main(CopyingArchive)
