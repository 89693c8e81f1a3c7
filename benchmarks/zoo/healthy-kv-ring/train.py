"""Answers turns of many conversations, as a chat server does."""

import random

import torch
from ring import Conversations
from talker import Talker


@torch.inference_mode()
def answer(talker, rings, prompt, length=6):
    token, said = talker(prompt, rings).argmax(-1), []
    for _ in range(length):
        said.append(int(token))
        token = talker(token[:, None], rings).argmax(-1)
    return said


def main(turns=60):
    torch.manual_seed(0)
    random.seed(0)
    talker = Talker().eval()
    conversations = Conversations(room=6, layers=3, size=192)
    words = 0
    for turn in range(turns):
        who = random.choice("abcdefghi"[: 2 + turn // 6])
        prompt = torch.randint(500, (1, random.randint(10, 40)))
        words += len(answer(talker, conversations.rings(who), prompt))
    print("said", words, "open", sorted(conversations.open))


if __name__ == "__main__":
    main()
