import torch
from rollout import Collector
from train import main


class QuietCollector(Collector):
    @torch.no_grad()
    def own_logprobs(self, tokens, start):
        return super().own_logprobs(tokens, start)


if __name__ == "__main__":
    main(QuietCollector)
