import torch
from monitor import GradientMonitor
from nets import Denoiser, Picker
from phases import Curriculum, Denoise, Pick
from records import Stations


def main(monitor_class=GradientMonitor):
    torch.manual_seed(19)
    monitor = monitor_class()
    Curriculum(Stations(), [(Denoise, Denoiser), (Pick, Picker)], monitor).run()
    monitor.report()


if __name__ == "__main__":
    main()
