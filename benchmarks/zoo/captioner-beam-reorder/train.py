import torch
from beam import BeamSearch
from captioner import Captioner
from memory import fresh, reorder


def main(rearrange=reorder):
    torch.manual_seed(8)
    search = BeamSearch(Captioner().eval(), fresh, rearrange)
    for number in range(2):
        words, scores = search.caption(torch.randn(3, 49, 64))
        print(number, words.sum().item(), [round(score, 3) for score in scores.tolist()])


if __name__ == "__main__":
    main()
