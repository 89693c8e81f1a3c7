from torch import nn


class Stage(nn.Sequential):
    def __init__(self, before, after, stride):
        super().__init__(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True)
        )


class ChestNet(nn.Module):
    findings = ("effusion", "nodule", "cardiomegaly", "fracture")

    def __init__(self, width=12):
        super().__init__()
        self.stage1 = Stage(1, width, 1)
        self.stage2 = Stage(width, width, 1)
        self.stage3 = Stage(width, 2 * width, 2)
        self.stage4 = Stage(2 * width, 4 * width, 4)
        self.head = nn.Linear(4 * width, len(self.findings))

    def forward(self, films):
        maps = self.stage4(self.stage3(self.stage2(self.stage1(films))))
        return self.head(maps.mean((2, 3)))
