"""A manifest's splits as a `DatasetDict` of the Hugging Face library.

python examples/manifests/with_datasets.py MANIFEST
"""

import sys

from datasets import Dataset, DatasetDict

import protoctl


def main(path):
    manifest = protoctl.read_manifest(path)
    faces = DatasetDict(
        {split: Dataset.from_pandas(manifest.frame(split), preserve_index=False) for split in manifest.splits}
    )
    return {split: len(rows) for split, rows in faces.items()}


if __name__ == "__main__":
    sys.stdout.write(f"{main(sys.argv[1])}\n")
