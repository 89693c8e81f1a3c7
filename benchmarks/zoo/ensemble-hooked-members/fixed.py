import weakref

from members import Member
from train import main


class LightMember(Member):
    def watch(self):
        owner = weakref.ref(self)

        def count(module, args, output):
            owner().silent = (output <= 0).float().mean().item()

        self.act.register_forward_hook(count)


if __name__ == "__main__":
    main(LightMember)
