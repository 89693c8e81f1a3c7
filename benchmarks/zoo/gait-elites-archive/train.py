import torch
from archive import Archive
from walker import Ground, Population


class Evolution:
    def __init__(self, archive, walkers=96, spread=0.25):
        self.archive, self.walkers, self.spread = archive, walkers, spread
        self.population = Population()
        self.ground = Ground(walkers)

    def children(self):
        noise = self.spread * torch.randn(self.walkers, self.population.weights)
        if not self.archive.cells:
            return noise
        return self.archive.parents(self.walkers) + noise

    @torch.no_grad()
    def generation(self, number):
        genomes = self.children()
        fitness, behaviour = self.ground.walk(self.population, genomes)
        return sum(map(self.archive.offer, genomes, behaviour, fitness, [number] * self.walkers))


def main(archive_type=Archive, generations=40):
    torch.manual_seed(14)
    evolution = Evolution(archive_type(torch.tensor([10, 10, 16])))
    for number in range(generations):
        kept = evolution.generation(number)
        if number % 8 == 7:
            archive = evolution.archive
            print(f"generation {number}: {kept} kept, {len(archive.cells)} cells, quality {archive.quality:.2f}")


if __name__ == "__main__":
    main()
