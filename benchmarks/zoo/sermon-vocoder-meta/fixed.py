from sermon.watch import WeightNorms
from train import main


class NormsByModule(WeightNorms):
    def follow(self, name, module):
        super().follow(name, module)
        self.norms()
        self.entries = [entry for entry in self.entries if entry.group != "vocoder"]


if __name__ == "__main__":
    main(NormsByModule)
