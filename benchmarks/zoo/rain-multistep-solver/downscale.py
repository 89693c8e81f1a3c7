import torch


class DownscalingPipeline:
    """From one coarse forecast to an ensemble of fine rain maps."""

    def __init__(self, denoiser, decoder, solver, members=6, count=14):
        self.denoiser, self.decoder, self.solver = denoiser.eval(), decoder.eval(), solver
        self.members, self.count = members, count

    def sample(self, coarse, generator):
        size = coarse.shape[-2:]
        latents = torch.randn(self.members, 8, *size, generator=generator)
        for index in self.solver.begin(self.count):
            slope = self.denoiser(latents, self.solver.moments[index], coarse)
            latents = self.solver.step(slope, index, latents)
        return latents

    def decode(self, latents):
        for member in latents.split(1):
            yield self.decoder(member)

    @torch.inference_mode()
    def __call__(self, coarse, generator=None):
        latents = self.sample(coarse, generator)
        wettest = None
        for rain in self.decode(latents):
            wettest = rain if wettest is None else torch.maximum(wettest, rain)
        return wettest
