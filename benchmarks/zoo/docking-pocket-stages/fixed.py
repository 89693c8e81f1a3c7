from train import main


def retire(node):
    node.run = None


if __name__ == "__main__":
    main(retire)
