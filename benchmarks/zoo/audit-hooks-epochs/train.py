import torch
from audit import SpectrumAudit
from segmentation import Fitter, Segmenter


def main(make_audit=SpectrumAudit):
    torch.manual_seed(0)
    audit = make_audit(["down", "mid"], (16, 32, 32))
    Fitter(Segmenter(), [audit]).fit()
    for name, (mean, top) in audit.report.items():
        print(f"{name}: mean {mean:.3f}, top {top:.3f}")


if __name__ == "__main__":
    main()
