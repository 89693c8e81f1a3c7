from beams.decoder import BeamDecoder
from beams.tree import Hypothesis
from train import main


class UpwardHypothesis(Hypothesis):
    def follow(self, token, score, state):
        return UpwardHypothesis(token, self.score + score, state, parent=self)


class UpwardDecoder(BeamDecoder):
    node = UpwardHypothesis


if __name__ == "__main__":
    main(UpwardDecoder)
