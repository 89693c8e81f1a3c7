import torch
from detector import Detector, Inpainter
from reports import Catalogue, Finding
from scenes import scenes


def survey(detect, source):
    for name, scene in source:
        place, heat = detect(scene)
        yield Finding(name, place, heat)


def main(make_detector=Detector):
    torch.manual_seed(60)
    catalogue = Catalogue().collect(survey(make_detector(Inpainter()), scenes()))
    print(len(catalogue), "scenes")
    for finding in catalogue.top(5):
        print(f"{finding} at {finding.centre}: {finding.strength:.4f}")


if __name__ == "__main__":
    main()
