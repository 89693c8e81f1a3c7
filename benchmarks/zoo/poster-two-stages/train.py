import torch
from denoiser import Denoiser, add_noise
from mixing import PromptMixer
from text import Conditioner


def album(n=18, vocab=24_000):
    g = torch.Generator().manual_seed(4)
    return {f"poster{i}": torch.randint(vocab, (12,), generator=g) for i in range(n)}


def main(mixer=PromptMixer, steps=60):
    torch.manual_seed(1)
    prompts = album()
    conditioner = Conditioner()
    blends = mixer(conditioner)
    conditioner.prepare(prompts)
    names = list(prompts)
    for a, b in zip(names[::3], names[1::3]):
        blends.add(a + "+" + b, [(prompts[a], 0.7), (prompts[b], 0.3)])
    blends.close()
    conditioner.release()

    latents = torch.randn(len(names), 4, 16, 16)
    net = Denoiser()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    pairs = list(blends.mixed)
    for step in range(steps):
        pick = torch.randint(len(names), (6,))
        c = conditioner.lookup([names[i] for i in pick])
        if step % 5 == 4:
            c[0] = blends[pairs[step % len(pairs)]]
        t = torch.rand(6)
        noisy, noise = add_noise(latents[pick], t)
        loss = (net(noisy, t, c) - noise).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(step + 1, round(loss.item(), 4))


if __name__ == "__main__":
    main()
