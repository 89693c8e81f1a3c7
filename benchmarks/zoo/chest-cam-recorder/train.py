import torch
from chestnet import ChestNet
from explain import explainer


def films(count=36, batch=2, size=144):
    generator = torch.Generator().manual_seed(31)
    for number in range(count):
        yield f"study-{number:03d}", torch.rand(batch, 1, size, size, generator=generator)


def main(make=explainer):
    torch.manual_seed(19)
    explain = make(ChestNet())
    brightest = 0.0
    for name, study in films():
        scores, heat = explain(study)
        brightest = max(brightest, heat.amax().item())
        if name.endswith("0"):
            finding = ChestNet.findings[scores[0].argmax().item()]
            print(name, finding, f"{scores[0].max().item():.3f}", divmod(heat[0].argmax().item(), heat.size(2)))
    print(f"brightest {brightest:.4f}")


if __name__ == "__main__":
    main()
