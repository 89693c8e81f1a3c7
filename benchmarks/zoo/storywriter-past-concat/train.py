import functools

import torch
from attention import Writer
from sampling import Sampler, write


def main(writer_class=Writer):
    torch.manual_seed(13)
    model = writer_class().eval()
    tell = functools.partial(write, model, sampler=Sampler())
    for request in range(2):
        prompt = torch.randint(400, (4, 64))
        story = tell(prompt)
        print(request, tuple(story.shape), int(story[:, 64:].sum()))


if __name__ == "__main__":
    main()
