import torch
from judge import Judge
from writer import Writer


def updates(writer, judge, optimizer, number, every=3):
    baseline = 0.0
    for i in range(number):
        if i % every == 0:  # a fresh batch of texts serves three updates
            text = writer.write(12, 14)
            reward = judge(text)
            baseline = 0.8 * baseline + 0.2 * reward.mean().item()
            with torch.no_grad():
                before = chosen(writer, text)
        ratio = (chosen(writer, text) - before).exp()
        gain = (reward - baseline)[:, None]
        loss = -torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield baseline


def chosen(writer, text):
    start = torch.zeros(len(text), 1, dtype=torch.long)
    logp = writer(torch.cat([start, text[:, :-1]], 1)).log_softmax(-1)
    return logp.gather(2, text[..., None]).squeeze(2)


def main():
    torch.manual_seed(10)
    writer, judge = Writer(), Judge()
    optimizer = torch.optim.Adam(writer.parameters(), lr=1e-3)
    curve = list(updates(writer, judge, optimizer, 45))
    print("reward", [round(v, 4) for v in curve[::9]])


if __name__ == "__main__":
    main()
