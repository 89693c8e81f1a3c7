from diffuse.fingerprint import Fingerprints
from train import main


class CopiedFingerprints(Fingerprints):
    def of(self, noise):
        return bytes(super().of(noise))


if __name__ == "__main__":
    main(CopiedFingerprints)
