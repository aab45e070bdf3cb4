import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.catalog import load_items, published_counts, reconcile, replica_items
from protoctl.catalog.replicas import published_marginals
from protoctl.catalog.subject_replicas import apportion
from protoctl.errors import InputError


@pytest.fixture(scope="module")
def disfa():
    return replica_items("disfa")


@pytest.fixture(scope="module")
def gft():
    return replica_items("gft")


def test_every_published_number_holds(disfa, gft):
    for items in (disfa, gft):
        counts = reconcile(items)
        assert len(counts) > 20
        assert [what for what, found, published in counts if found != published] == []


def test_disfa_has_27_subjects_in_both_views(disfa):
    table = disfa.table.to_pandas()
    assert len(table) == 261_628
    sizes = table.groupby("subject").size()
    assert len(sizes) == 27
    assert sizes.to_dict() | {"SN010": 9690} == dict.fromkeys(sizes.index, 9690)
    short = table[table["subject"] == "SN010"]
    assert short.groupby("view").size().to_dict() == {"left": 4844, "right": 4844}
    assert short["gender"].unique().tolist() == ["Female"]
    assert (table["AU26"] == "1").sum() == 261_628 - 211_676 == 49_952
    labels = list(disfa.labels)
    left, right = (table[table["view"] == view][labels].reset_index(drop=True) for view in ("left", "right"))
    assert left.equals(right)
    assert disfa.table["item"][0].as_py() == "replica/LeftVideoSN001/00001.jpg"


def test_a_subject_has_one_value_of_each_attribute(disfa, gft):
    for items in (disfa, gft):
        table = items.table.to_pandas()
        for attribute in ("age", "gender", "race"):
            assert table.groupby("subject")[attribute].nunique(dropna=False).max() == 1


def test_gft_has_96_participants_and_single_years(gft):
    table = gft.table.to_pandas()
    assert len(table) == 133_194
    sizes = table.groupby("subject").size()
    assert (len(sizes), sizes.max() <= 1800) == (96, True)
    assert sorted(table["age"].unique()) == [str(year) for year in range(21, 29)]
    assert table["race"].isna().sum() == 1249
    assert table[table["race"].isna()]["subject"].nunique() == 1
    assert gft.report.missing == {"race": {"not published": 1249}}
    assert ((table["AU1"] == "1").sum(), (table["AU9"] == "1").sum()) == (5116, 1897)
    assert table["group"].nunique() == 32
    assert (table["group"] == table["subject"].str[:3]).all()


def test_units_differ_between_subjects_and_rare_ones_more(disfa):
    table = disfa.table.to_pandas()

    def spread(unit):
        rates = (table[unit] == "1").groupby(table["subject"]).mean()
        return rates.std() / rates.mean()

    assert 0.4 < spread("AU12") < 1.0
    assert spread("AU5") > 1.0


def test_a_replica_says_what_it_is_and_is_the_same_each_time(disfa, monkeypatch):
    monkeypatch.delenv("PROTOCTL_DATA", raising=False)
    again = load_items("disfa")
    assert again.table.equals(disfa.table)
    assert again.report.notes[0] == (
        "this is a replica of DISFA and not the dataset: 261,628 rows with the published counts of the original "
        "partition (Hu et al., FG 2024); which subject has which age, gender and race, and how often it shows each "
        "action unit, is drawn"
    )


def test_units_of_which_nothing_was_published_have_no_replica():
    with pytest.raises(InputError, match="the replica of GFT has no AU14") as refusal:
        replica_items("gft", "au-10")
    assert "choose --task au" in str(refusal.value.hint)
    with pytest.raises(InputError, match="the replica of EmotioNet has no AU43"):
        replica_items("emotionet", "au-12")
    with pytest.raises(InputError, match="no partition of UTKFace is published") as refusal:
        published_counts("utkface")
    assert "disfa, gft" in str(refusal.value.hint)


def test_counts_stand_as_they_are_printed():
    printed = {(entry.split, entry.attribute): entry.count for entry in published_counts("gft")}
    assert printed["test", "AU1"] == 1686
    original = {
        (entry.split, entry.attribute): entry.count
        for entry in published_counts("gft")
        if entry.partition == "original"
    }
    assert original["test", "AU1"] == 23_540
    assert published_marginals("gft")["AU1"]["1"] == 5_116


@pytest.mark.parametrize(("name", "unit"), [("disfa", "subject"), ("gft", "group")])
def test_replicas_split_by_subject_and_by_group(protoctl, in_empty_folder, name, unit):
    run = protoctl("split", name, "--protocol", "fair-55-15-30", "--unit", unit, "--out", "out", "--json")
    assert run.code == 0, run.err
    assert run.json["assignments"]["level"] == "subject"
    assert run.json["replica"] is True
    size = {"disfa": 27, "gft": 96}[name]
    rows = (in_empty_folder / "out/assignments.csv").read_text().splitlines()[1:]
    assert len(rows) == size
    if unit == "group":
        splits = {row[:3]: set() for row in rows}
        for row in rows:
            splits[row[:3]].add(row.split(",")[1])
        assert [len(found) for found in splits.values()] == [1] * 32


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 50)), min_size=1, max_size=12), st.data())
def test_shares_add_up_and_keep_their_most(pairs, data):
    weights, most = zip(*pairs, strict=True)
    total = data.draw(st.integers(0, sum(most)))
    shares = apportion(weights, total, most)
    assert sum(shares) == total
    assert all(0 <= share <= limit for share, limit in zip(shares, most, strict=True))
