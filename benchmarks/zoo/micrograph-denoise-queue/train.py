import torch
from microscope import Session, fields
from sharpener import Sharpener


class Worker:
    def __init__(self, model):
        self.model = model.eval().requires_grad_(False)

    def __call__(self, micrographs):
        sharp, confidence = self.model(micrographs)
        contrast = sharp.flatten(1).std(1)
        return [(round(c.item(), 4), round(s.item(), 4)) for c, s in zip(confidence, contrast)]


def main(model_class=Sharpener, exposures=45):
    torch.manual_seed(8)
    session = Session(fields(exposures))
    for number, report in enumerate(session.work(Worker(model_class()))):
        if number % 9 == 0:
            print(number, report)


if __name__ == "__main__":
    main()
