"""A manifest's splits for scikit-learn: train on one, evaluate on another, search over settings on the third.

python examples/manifests/with_sklearn.py MANIFEST
"""

import sys

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, PredefinedSplit

import protoctl


def main(path):
    manifest = protoctl.read_manifest(path)
    rows = manifest.frame()
    # Features and labels stand in for yours: they come in the order of `rows`.
    features, labels = np.arange(len(rows))[:, None], np.arange(len(rows)) % 2
    fitting = rows["split"].isin(["train", "valid"]).to_numpy()
    folds = PredefinedSplit(np.where(rows["split"][fitting] == "valid", 0, -1))
    search = GridSearchCV(DummyClassifier(), {"strategy": ["most_frequent", "prior"]}, cv=folds)
    search.fit(features[fitting], labels[fitting])
    test = (rows["split"] == "test").to_numpy()
    return {
        "fitted on": int(fitting.sum()),
        "tested on": int(test.sum()),
        "score": search.score(features[test], labels[test]),
    }


if __name__ == "__main__":
    sys.stdout.write(f"{main(sys.argv[1])}\n")
