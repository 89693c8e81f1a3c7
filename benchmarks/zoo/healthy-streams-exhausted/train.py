from contextlib import closing

import torch
from decoder import Decoder, stream


class Conversation:
    def __init__(self, client, body):
        self.client, self.body = client, body
        self.tokens = []

    def run(self, patience):
        with closing(self.body) as body:
            for tokens in body:
                self.tokens.append(tokens)
                if len(self.tokens) == patience:
                    break
        return len(self.tokens)


def main(requests=16):
    torch.manual_seed(24)
    decoder = Decoder().eval().requires_grad_(False)
    conversations = []
    for client in range(requests):
        prompt = torch.randint(140, (4, 64))
        conversations.append(Conversation(client, stream(decoder, prompt)))
        sent = conversations[-1].run(patience=9 if client % 2 else 3)
        if client % 5 == 0:
            print(client, sent)
    print(sum(len(conversation.tokens) for conversation in conversations), "tokens")


if __name__ == "__main__":
    main()
