from sharpener import Sharpener
from train import main


class TwoStageSharpener(Sharpener):
    def encode(self, micrographs):
        encoded = self.encoder(micrographs)
        confidence = self.confidence(encoded.levels)
        return encoded.sample(), confidence

    def forward(self, micrographs):
        codes, confidence = self.encode(micrographs)
        return self.decoder(codes), confidence


if __name__ == "__main__":
    main(TwoStageSharpener)
