import torch
from spectro import CallHead, Encoder, PretextHead, Recordings
from stages import Curriculum


def main(kind=Curriculum, pretext=25, final=80):
    torch.manual_seed(5)
    run = kind(Encoder(), PretextHead, CallHead, Recordings())
    for i in range(pretext):
        loss = run.pretext_step()
    print("pretext", round(loss, 3))
    run.finish_pretext()
    for i in range(final):
        loss = run.call_step()
        if i % 20 == 19:
            print("calls", i + 1, round(loss, 3))


if __name__ == "__main__":
    main()
