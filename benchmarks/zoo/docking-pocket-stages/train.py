import torch
from affinity import AffinityHead, AffinityJob
from flow import Flow
from pockets import PocketJob, VoxelEncoder


def experiment():
    torch.manual_seed(23)
    flow = Flow()
    flow.add("pockets", PocketJob(VoxelEncoder()).embed)
    flow.add("affinity", AffinityJob(AffinityHead()).train, needs=["pockets"])
    return flow


def main(finished=None):
    flow = experiment()
    results = flow.execute(finished)
    print("first", round(results["affinity"][0], 4), "last", round(results["affinity"][-1], 4))
    print({node.name: node.state for node in flow.nodes.values()})


if __name__ == "__main__":
    main()
