import torch
from downscale import DownscalingPipeline
from nets import Denoiser, RainDecoder
from solver import MultistepSolver


def forecasts(count, size=64):
    generator = torch.Generator().manual_seed(40)
    for day in range(count):
        yield f"day {day}", torch.rand(1, 1, size, size, generator=generator)


def main(solver=MultistepSolver):
    torch.manual_seed(2)
    pipeline = DownscalingPipeline(Denoiser(), RainDecoder(), solver())
    generator = torch.Generator().manual_seed(5)
    for day, coarse in forecasts(3):
        rain = pipeline(coarse, generator)
        print(day, f"mean {rain.mean().item():.4f} worst {rain.max().item():.4f}")


if __name__ == "__main__":
    main()
