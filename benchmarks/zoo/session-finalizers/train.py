import torch
from denoiser import Denoiser, phone_calls
from sessions import Meter, Session, serve


def main(session_class=Session, calls=30):
    torch.manual_seed(91)
    meter = Meter()
    for number, level in serve(Denoiser().eval(), phone_calls(calls), meter, session_class):
        if number % 6 == 0:
            print(f"call {number:2d} of {meter.open}: level {level:.5f}")


if __name__ == "__main__":
    main()
