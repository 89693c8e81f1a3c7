import torch
from session import Preview, Session
from vocoder import Speech, Vocoder, spectral_distance


def main(preview_class=Preview):
    torch.manual_seed(48)
    session = Session(Vocoder(), spectral_distance, preview_class())
    speech = Speech()
    for step in range(1, 41):
        loss = session.advance(*speech.draw())
        if step % 10 == 0:
            print(step, f"{loss:.4f}", f"loudest {session.preview.loudness().max().item():.3f}")


if __name__ == "__main__":
    main()
