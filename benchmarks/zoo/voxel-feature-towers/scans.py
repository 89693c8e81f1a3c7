import torch


def stimuli(runs=5, trials=32, seed=3):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(runs):
        yield {
            "frames": torch.rand(trials, 3, 32, 32, generator=generator),
            "mel": torch.randn(trials, 30, 40, generator=generator),
            "words": torch.randint(6000, (trials, 12), generator=generator),
        }


def responses(features, voxels=300, noise=0.5, seed=4):
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(features.shape[1], voxels, generator=generator) / features.shape[1] ** 0.5
    return features @ weights + noise * torch.randn(len(features), voxels, generator=generator)
