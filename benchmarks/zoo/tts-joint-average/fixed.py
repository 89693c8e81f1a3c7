"""Speech synthesis in two stages: text and waveform together, then text alone."""

import torch

from joint.callbacks_b import Progress, WeightAverager
from joint.loop import StagedLoop
from joint.textnet import ReadSpeech, TextNet
from joint.wavegen import WaveHead


def main():
    torch.manual_seed(13)
    loop = StagedLoop(TextNet(), WaveHead(), ReadSpeech(seed=1))
    loop.callbacks += [WeightAverager(loop.text, loop.wave), Progress()]
    loop.joint_stage(6)
    loop.retire_wave()
    loop.text_stage(24)


if __name__ == "__main__":
    main()
