import torch
import torch.nn.functional as F

from beams.decoder import BeamDecoder
from beams.scorer import Scorer


class Recogniser:
    def __init__(self, decoder, seed=27):
        self.gen = torch.Generator().manual_seed(seed)
        self.bands = torch.randn(30, 40, generator=self.gen)
        self.scorer = Scorer()
        self.decoder = decoder
        self.optimizer = torch.optim.Adam(self.scorer.parameters(), lr=1e-3)

    def utterances(self, count=8, frames=24):
        tokens = torch.randint(30, (count, frames), generator=self.gen)
        return self.bands[tokens] + torch.randn(count, frames, 40, generator=self.gen), tokens

    def step(self):
        mel, tokens = self.utterances()
        loss = F.cross_entropy(self.scorer(mel).flatten(0, 1), tokens.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            memory = torch.tanh(self.scorer.listen(mel[0]))
        return loss.item(), self.decoder.decode(self.scorer, memory)


def main(decoder=BeamDecoder, steps=30):
    torch.manual_seed(26)
    recogniser = Recogniser(decoder())
    for number in range(steps):
        loss, tokens = recogniser.step()
        if number % 10 == 9:
            print(f"{number + 1}: {loss:.4f}, hears {tokens}")


if __name__ == "__main__":
    main()
