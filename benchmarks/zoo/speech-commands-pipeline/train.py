import torch
from frontend import CommandNet, LogMel, recordings
from pipeline import Pipeline, learn, normalize, spectral


def main(first_stage=spectral, steps=44):
    torch.manual_seed(21)
    net = CommandNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    pipe = Pipeline(recordings(), first_stage(LogMel()), normalize, learn(net, optimizer))
    for step in range(steps):
        loss = pipe.advance()
        if step % 11 == 0:
            print(f"{step:3d} {loss:.4f}")


if __name__ == "__main__":
    main()
