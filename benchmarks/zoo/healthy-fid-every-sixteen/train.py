import torch
from frechet import FrechetDistance, inception
from vae import Lessons, StrokeVAE


def strokes(count=192, size=28):
    """Short bright bars at any angle."""
    axis = torch.linspace(-1, 1, size)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    turn, shift = torch.rand(count, 1, 1) * 3.14, torch.rand(count, 1, 1) * 0.6 - 0.3
    across = x * turn.sin() - y * turn.cos() - shift
    along = x * turn.cos() + y * turn.sin()
    return (2 * torch.exp(-40 * across**2 - 4 * along**4) - 1)[:, None]


def main(steps=64):
    torch.manual_seed(37)
    images = strokes()
    lessons = Lessons(StrokeVAE(), images)
    lessons.listeners.append(FrechetDistance(inception(), images))
    lessons.run(steps)


if __name__ == "__main__":
    main()
