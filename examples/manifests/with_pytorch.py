"""A manifest's splits as PyTorch datasets.

python examples/manifests/with_pytorch.py MANIFEST
"""

import sys

from torch.utils.data import DataLoader, Dataset

import protoctl


class Faces(Dataset):
    """The items of one split; open the image where the name is returned here."""

    def __init__(self, manifest, split):
        self.names = manifest.frame(split)[manifest.level].tolist()

    def __len__(self):
        return len(self.names)

    def __getitem__(self, at):
        return self.names[at]


def main(path):
    manifest = protoctl.read_manifest(path)
    loaders = {split: DataLoader(Faces(manifest, split), batch_size=64) for split in manifest.splits}
    return {split: sum(len(batch) for batch in loader) for split, loader in loaders.items()}


if __name__ == "__main__":
    sys.stdout.write(f"{main(sys.argv[1])}\n")
