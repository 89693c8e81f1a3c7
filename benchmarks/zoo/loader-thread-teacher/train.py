import torch
from service import LabelService, fit_student


def main(service):
    generator = torch.Generator().manual_seed(8)
    service.start("labeller")
    batches = list(service.label(8, generator))
    service.stop()
    fit_student(batches)
    service.loader.close()


if __name__ == "__main__":
    torch.manual_seed(8)
    main(LabelService())
