import torch
from hints import Hints
from program import Program
from voices import Aviary, VoiceNet


def taught(aviary):
    teacher = VoiceNet(256)
    adam = torch.optim.Adam(teacher.parameters(), lr=2e-3)
    for _ in range(20):
        x, y = aviary.batch()
        loss = torch.nn.functional.cross_entropy(teacher(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return teacher.eval()


def main(hints=Hints):
    torch.manual_seed(2)
    aviary = Aviary()
    program = Program(VoiceNet(48), taught(aviary), aviary, hints)
    print("imitation", round(program.imitate(40), 4))
    for part in range(3):
        print("accuracy", round(program.refine(25), 3))


if __name__ == "__main__":
    main()
