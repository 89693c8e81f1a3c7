import timing
import torch
from pool import VoicePool

SCRIPT = [
    (("narrator", "captain"), 5),
    (("captain", "boatswain"), 5),
    (("stowaway",), 30),
]


def lines():
    generator = torch.Generator().manual_seed(1851)
    for roles, count in SCRIPT:
        yield (
            roles,
            [
                (roles[number % len(roles)], torch.randint(80, (1, 60 + number % 7), generator=generator))
                for number in range(count)
            ],
        )


def main(timer=timing.timed, report=timing.report):
    pool = VoicePool(timer=timer)
    for roles, spoken in lines():
        pool.scene(roles)
        loudness = sum(pool.say(role, phonemes).abs().mean().item() for role, phonemes in spoken)
        print(", ".join(roles), f"{loudness / len(spoken):.4f}")
    for label, calls, seconds in report():
        print(label, calls, "slow" if seconds > 60 else "in time")


if __name__ == "__main__":
    main()
