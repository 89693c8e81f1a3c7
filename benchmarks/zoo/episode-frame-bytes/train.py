import torch
from maze import Maze, Policy
from recorder import EpisodeRecorder


def play(maze, policy, recorder, length):
    picture, scores, rewards = maze.reset(), [], []
    for _ in range(length):
        choice = torch.distributions.Categorical(logits=policy(picture[None])[0])
        action = choice.sample()
        picture, reward = maze.step(action)
        recorder.frame(picture, reward)
        scores.append(choice.log_prob(action))
        rewards.append(reward)
    return torch.stack(scores), torch.tensor(rewards)


def main(make_recorder=EpisodeRecorder, episodes=40, length=8):
    torch.manual_seed(44)
    maze, policy, recorder = Maze(), Policy(), make_recorder()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for number in range(episodes):
        recorder.begin(number)
        scores, rewards = play(maze, policy, recorder, length)
        loss = -(scores * (rewards - rewards.mean())).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            best = recorder.best()
            print(f"{number + 1} episodes, best is {best.number} with {best.reward:.3f} and {len(best.frames)} frames")


if __name__ == "__main__":
    main()
