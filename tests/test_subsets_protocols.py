"""The four protocols run by the same command, on replicas and on real lists; terms that forbid training."""

import csv
import json

import pytest

from protoctl.catalog import load_items, reconcile, replica_items
from protoctl.catalog.cell_replicas import published_cells
from protoctl.errors import InputError
from protoctl.manifests import read_manifest
from protoctl.partition import apply_protocol, draw_subset, given_partition
from protoctl.partition.units import units_of
from protoctl.protocols import load_protocol, protocol_names

PAPERS = {
    "casual-conversations-mini": "Hazirbas",
    "dfdc-preview": "Dolhansky",
    "fair-55-15-30": "Hu et al.",
    "robustness-1500": "Dooley",
}


def test_all_four_are_listed_each_with_its_paper(protoctl):
    run = protoctl("protocols", "--json")
    assert run.code == 0
    shown = {entry["name"]: entry["source"] for entry in run.json}
    assert set(PAPERS) <= set(shown)
    assert set(PAPERS) <= set(protocol_names())
    for name, author in PAPERS.items():
        assert author in shown[name]


@pytest.mark.parametrize(
    ("dataset", "protocol", "splits"),
    [
        ("casual-conversations", "casual-conversations-mini", {"mini": 6022}),
        ("casual-conversations", "robustness-1500", {"capped": 21444}),
        ("miap", "robustness-1500", {"capped": 8194}),
        ("dfdc-preview", "dfdc-preview", {"train": 4464, "test": 780}),
        ("raf-au", "fair-55-15-30", None),
    ],
)
def test_each_runs_on_its_replica_from_an_empty_folder(protoctl, in_empty_folder, dataset, protocol, splits):
    assert protoctl("split", dataset, "--protocol", protocol).code == 0
    folder = f"{dataset}-replica-{protocol}"
    assert protoctl("verify", folder, "--recompute").code == 0
    document = read_manifest(in_empty_folder / folder).document
    assert document["replica"]
    if splits is not None:
        assert {name: count["items"] for name, count in document["counts"].items()} == splits


def test_mini_shows_lighting_by_skin_type(protoctl, in_empty_folder):
    run = protoctl("split", "casual-conversations", "--protocol", "casual-conversations-mini")
    assert "lighting dark: 2,246 items, 37.3 % of the subset" in run.out
    assert "765 subjects have none" in run.out
    assert "skin_type" in run.out
    assert all(
        len(line) <= 80 for line in run.out.splitlines() if not line.startswith(("subset", "lighting", "written"))
    )
    subset = read_manifest(in_empty_folder / "casual-conversations-replica-casual-conversations-mini").document[
        "subset"
    ]
    dark = next(entry for entry in subset["alternate"]["categories"] if entry["value"] == "dark")
    assert (dark["after"], dark["cells_without"]) == (2246, 765)
    by_skin = next(table for table in subset["alternate"]["by"] if table["attribute"] == "skin_type")
    shares = [row["after"][1] / sum(row["after"]) for row in by_skin["rows"]]
    assert len(shares) == 6
    assert max(shares) - min(shares) < 0.02


def test_replica_of_casual_conversations_has_what_was_published():
    table = replica_items("casual-conversations").table.to_pandas()
    assert len(table) == 45186
    assert table["item"].is_unique
    kinds = table.groupby("subject")["lighting"].agg(["nunique", "count"])
    assert len(kinds) == 3011
    assert (kinds["nunique"] == 2).sum() == 2246
    never_dark = ~(table["lighting"] == "dark").groupby(table["subject"]).any()
    assert never_dark.sum() == 765
    assert kinds["count"].min() >= 2
    assert (table.groupby("subject")[["age", "gender", "skin_type"]].nunique() == 1).all().all()
    assert reconcile(replica_items("casual-conversations")) == [("items", 45186, 45186), ("subjects", 3011, 3011)]


def test_replica_of_the_preview_has_66_people_and_no_swap_across(protoctl):
    items = replica_items("dfdc-preview")
    people = {person for subject in items.table["subject"].to_pylist() for person in subject.split("|")}
    assert (len(items), len(people)) == (5244, 66)
    units = units_of(items.table, "subject")
    assert len(units) == 22
    assert all(len(component.subjects) == 3 for component in units.components)
    published = given_partition(items, load_protocol("dfdc-preview")).table()
    split_of = {}
    for subject, split in zip(published["subject"].to_pylist(), published["split"].to_pylist(), strict=True):
        for person in subject.split("|"):
            assert split_of.setdefault(person, split) == split


def published_counts(published, database) -> list[int]:
    with (published / "capped_counts.csv").open(newline="") as stream:
        return [int(row["count"]) for row in csv.DictReader(stream) if row["database"] == database]


@pytest.mark.parametrize(("dataset", "database"), [("casual-conversations", "CasualConversations"), ("miap", "MIAP")])
def test_cells_of_the_replicas_are_the_published_ones(published, dataset, database):
    drawn = draw_subset(replica_items(dataset), load_protocol("robustness-1500")).drawn
    counts = published_counts(published, database)
    assert sorted(cell.after for cell in drawn.cells) == sorted(counts)
    assert sum(published_cells(database).values()) == sum(counts) == drawn.after
    assert all(cell.before > 1500 for cell in drawn.cells if cell.after == 1500)
    assert drawn.reduced == counts.count(1500)


def test_miap_s_unknown_is_an_answer():
    drawn = draw_subset(replica_items("miap"), load_protocol("robustness-1500")).drawn
    found = {cell.values: cell.after for cell in drawn.cells}
    assert found[("Unknown", "Unknown")] == 1500
    assert found[("Older", "Unknown")] == 24


def test_adience_gives_14_919(real):
    items = load_items("adience", root=real / "adience_folds")
    sample = draw_subset(items, load_protocol("robustness-1500"))
    assert (sample.drawn.before, sample.drawn.after, sample.drawn.number) == (17452, 14919, 16)
    capped = {cell.values: cell.after for cell in sample.drawn.cells if cell.after < cell.before}
    assert capped == {("25-32", "Female"): 1500, ("25-32", "Male"): 1500}
    assert sample.left_out == {"no age": 750, "no gender": 1168}


def test_the_printed_table_of_adience_differs_by_21_rows(real, published):
    # The paper counted revision 2, in which whole persons of 36 and older were labelled anew.
    drawn = draw_subset(load_items("adience", root=real / "adience_folds"), load_protocol("robustness-1500")).drawn
    ours = [cell.after for cell in drawn.cells]
    printed = published_counts(published, "Adience")
    assert ours[:10] == printed[:10]
    moved = [mine - theirs for mine, theirs in zip(ours[10:], printed[10:], strict=True)]
    assert moved == [2, -2, 12, -12, 7, -7]


def test_the_list_of_utkface_stays_as_it_is(real, published):
    items = load_items("utkface", root=real / "utkface_file_names.txt")
    drawn = draw_subset(items, load_protocol("robustness-1500")).drawn
    assert (drawn.before, drawn.after, drawn.reduced) == (22101, 22101, 0)
    differences = {}
    for cell, printed in zip(drawn.cells, published_counts(published, "UTKFace"), strict=True):
        if cell.after != printed:
            differences[cell.values] = (cell.after, printed)
    assert differences == {
        ("18-44", "Male", "Black"): (1500, 1499),
        ("45-64", "Female", "White"): (801, 802),
        ("65+", "Female", "Others"): (7, 10),
    }


def test_training_on_an_evaluation_set_is_refused_unless_it_is_said_why(protoctl, in_empty_folder):
    arguments = ("split", "casual-conversations", "--protocol", "fair-55-15-30", "--stratify", "age,gender")
    refused = protoctl(*arguments)
    assert refused.code == 3
    assert "the terms of Casual Conversations allow evaluation only" in refused.err
    assert "makes a split 'train' to train on" in refused.err
    assert "--accept-terms" in refused.err
    assert list(in_empty_folder.iterdir()) == []
    why = "agreement of 2 May with the rights holder"
    assert protoctl(*arguments, "--accept-terms", why).code == 0
    folder = in_empty_folder / "casual-conversations-replica-fair-55-15-30"
    dataset = json.loads((folder / "manifest.json").read_text())["dataset"]
    assert dataset["accepted_terms"] == why
    assert dataset["evaluation_only"] is True
    assert protoctl("verify", folder).code == 0


def test_folds_are_trained_on_too():
    items, protocol = replica_items("casual-conversations"), load_protocol("fair-55-15-30")
    with pytest.raises(InputError) as caught:
        apply_protocol(items, protocol, folds=5, accept_terms="  ")
    assert "makes 5 folds to train on" in caught.value.message
    assert "the manifest records it" in str(caught.value.hint)


def test_a_protocol_of_one_s_own_mixes_sections(protoctl, in_empty_folder):
    (in_empty_folder / "mine.yaml").write_text(
        "name: mine\nversion: 1.0.0\nform: {age: robustness, skin_type: lighter-darker}\n"
        "subset: {name: capped, per: [skin_type, lighting], at_most: 600}\n"
        "split: {ratios: {valid: 70, test: 30}, unit: subject, stratify: [skin_type, lighting]}\n"
        "score: {gender: [accuracy]}\n"
    )
    run = protoctl("split", "casual-conversations", "--protocol", "mine.yaml", "--json")
    assert run.code == 0
    document = run.json
    assert [count["after"] for count in document["subset"]["counts"]] == [600] * 4
    assert sum(count["items"] for count in document["counts"].values()) == 2400
    assert abs(document["counts"]["valid"]["items"] - 1680) <= 24
    (in_empty_folder / "wrong.yaml").write_text(
        "name: wrong\nversion: 1.0.0\nsubset: {name: capped, per: [skin_typ], at_most: 5}\n"
    )
    wrong = protoctl("split", "casual-conversations", "--protocol", "wrong.yaml")
    assert wrong.code == 3
    assert "$.subset.per[0]: there is no column 'skin_typ'" in wrong.err
    assert "did you mean 'skin_type'" in wrong.err


def preview(folder, swaps):
    """Write a dataset.json: eight people, three clips of each; 7 and 8 are in test, and so are fakes of them."""
    entries = {}
    for person in range(1, 9):
        for clip in range(3):
            entries[f"original_videos/{person}/{person}_A_{clip:03d}.mp4"] = {
                "label": "real", "set": "test" if person > 6 else "train", "augmentations": [],
                "target_id": person, "swapped_id": None,
            }  # fmt: skip
    for target, swapped in swaps:
        entries[f"method_A/{target}/{target}_A/{swapped}_{target}_A_000.mp4"] = {
            "label": "fake", "set": "test" if target > 6 else "train", "augmentations": [],
            "target_id": target, "swapped_id": swapped, "source_video": f"{target}_A",
        }  # fmt: skip
    (folder / "dataset.json").write_text(json.dumps(entries))
    return folder / "dataset.json"


def test_the_released_split_of_the_preview_is_audited(protoctl, in_empty_folder):
    good = preview(in_empty_folder, [(1, 2), (3, 4), (7, 8)])
    arguments = ("audit", "dfdc-preview", "--items", good, "--protocol", "dfdc-preview", "--json")
    finding = next(f for f in protoctl(*arguments).json["findings"] if f["check"] == "subjects in two splits")
    assert finding["count"] == 0
    preview(in_empty_folder, [(1, 2), (3, 4), (6, 7)])
    run = protoctl(*arguments)
    assert run.code == 5
    finding = next(f for f in run.json["findings"] if f["check"] == "subjects in two splits")
    assert finding["count"] == 1
    assert finding["found"].endswith(": 7")
    assert protoctl("split", "dfdc-preview", "--root", good, "--protocol", "dfdc-preview", "--out", "ours").code == 0
    assert protoctl("audit", "ours").code == 0


def test_a_subset_s_readme_has_its_cells_and_no_deviation(protoctl, in_empty_folder):
    protoctl("split", "miap", "--protocol", "robustness-1500")
    text = (in_empty_folder / "miap-replica-robustness-1500" / "README.md").read_text()
    assert "8,194 of 14,194 items, drawn per age, gender by a keyed digest of their names" in text
    assert "| Middle | Predominantly Feminine | 3,000 | 1,500 |" in text
    assert "Mean deviation" not in text
