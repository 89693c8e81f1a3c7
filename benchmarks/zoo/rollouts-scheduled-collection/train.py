import torch
from collector import ScheduledCollection
from episodes import Episode
from torch import nn


def play(generator, episode_type, baseline, segments=3, length=40):
    episode = episode_type(baseline)
    for _ in range(segments):
        observations = torch.randn(length, 96, generator=generator)
        episode.add(observations, observations[:, 0].sign())
    return episode


def main(episode_type=Episode, steps=54):
    torch.manual_seed(13)
    generator = torch.Generator().manual_seed(13)
    critic = nn.Sequential(nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3)
    with ScheduledCollection() as schedule:
        for step in range(steps):
            observations, returns = play(generator, episode_type, baseline=0.1).batch()
            loss = nn.functional.smooth_l1_loss(critic(observations).squeeze(1), returns)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.after_step(step)
            if step % 10 == 0:
                print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
