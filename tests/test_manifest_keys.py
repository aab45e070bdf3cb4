"""Keyed identities: everything resolves with the licensed file, nothing without it, and tables give nobody away."""

import hashlib
import hmac
import json
from dataclasses import replace
from itertools import product

import pyarrow as pa
import pytest

from protoctl.catalog import Items, load_card
from protoctl.errors import InputError
from protoctl.manifests import (
    build_manifest,
    compare_manifests,
    extended_manifest,
    keyed_manifest,
    open_key,
    read_manifest,
    release_key,
    resolved_manifest,
    suppressed_balance,
    verify_folder,
    verify_recomputed,
    verify_root,
    withdrawn_manifest,
    write_manifest,
)
from protoctl.manifests.keys import fingerprints
from protoctl.partition import balance_of, split_items
from protoctl.protocols import load_protocol

RULES = load_protocol("fair-55-15-30")


def people(subjects=27, each=6):
    count = subjects * each
    return Items(
        "faces",
        pa.table(
            {
                "item": [f"SN{n % subjects:03d}/{n // subjects:05d}.jpg" for n in range(count)],
                "subject": [f"SN{n % subjects:03d}" for n in range(count)],
                "label": [["Anger", "Fear"][n // subjects % 2] for n in range(count)],
                "age": [["20-29", "30-39"][n % subjects % 2] for n in range(count)],
                "gender": [["Female", "Male"][n % subjects // 2 % 2] for n in range(count)],
                "race": [["Asian", "White"][n % subjects % 3 % 2] for n in range(count)],
            }
        ),
        labels=("label",),
        attributes=("age", "gender", "race"),
        card=load_card("raf-db"),
    )


def split(items):
    partition = split_items(items, RULES)
    return build_manifest(partition, balance_of(partition))


@pytest.fixture(scope="module")
def items():
    return people()


@pytest.fixture(scope="module")
def plain(items):
    return split(items)


@pytest.fixture
def licensed(tmp_path):
    """A file of the release that nobody can guess, as far as this test is concerned."""
    path = tmp_path / "labels.csv"
    path.write_text("".join(f"{n},{hashlib.sha256(str(n).encode()).hexdigest()}\n" for n in range(100)))
    return path


@pytest.fixture
def keyed(plain, licensed):
    return keyed_manifest(plain, release_key(licensed, plain.name))


def test_the_key_is_the_one_that_is_documented(plain, licensed, keyed):
    root = hmac.digest(b"protoctl/v1/key-from-release", licensed.read_bytes(), "sha256")
    key = hmac.digest(root, f"lineage\0{plain.name}".encode(), "sha256")
    name = plain.frame()["item"][0]
    token = hmac.digest(key, b"item\0" + name.encode(), "sha256")[:16].hex()
    assert token in keyed.frame()["item"].tolist()
    check = hmac.digest(key, b"check", "sha256").hex()
    assert keyed.document["assignments"]["identity"]["key_check"] == f"sha256:{check}"


def test_the_holder_resolves_everything(plain, keyed, licensed, tmp_path, items):
    write_manifest(tmp_path / "keyed", keyed)
    read = read_manifest(tmp_path / "keyed")
    assert verify_folder(tmp_path / "keyed").faults == []
    more = [*items.table["item"].to_pylist(), "not/in/it.jpg"]
    back = resolved_manifest(read, open_key(read, licensed), more, items.table["subject"].to_pylist())
    assert back.equals(plain.assignments)


def test_without_the_file_nothing_resolves(keyed, licensed, tmp_path, items):
    guess = tmp_path / "other.csv"
    guess.write_bytes(licensed.read_bytes() + b"\n")
    with pytest.raises(InputError) as caught:
        open_key(keyed, guess)
    assert "is not the file that the tokens" in caught.value.message
    assert "that one is called labels.csv" in caught.value.hint
    wrong = release_key(guess, keyed.name)
    with pytest.raises(InputError, match=r"162 items of .* are none of the names at hand"):
        resolved_manifest(keyed, wrong, items.table["item"].to_pylist())


def test_a_dictionary_of_all_plausible_names_recovers_nothing(keyed, licensed, items):
    """With everything that the manifest publishes as the key, in every plain form of digest."""
    seen = {*keyed.frame()["item"], *keyed.frame()["subject"]}
    text = json.dumps(keyed.document)
    public = [licensed.name, keyed.name, hashlib.sha256(licensed.read_bytes()).hexdigest()]
    public += [value for value in _texts(keyed.document) if value.startswith("sha256:") or len(value) < 80]
    keys = {value.encode() for value in public} | {
        bytes.fromhex(value[7:]) for value in public if value.startswith("sha256:")
    }
    names = [f"SN{n:03d}" for n in range(1000)] + items.table["item"].to_pylist()[:200]
    for name, key in product(names[:60] + names[-60:], keys):
        for kind in ("item", "subject"):
            message = f"{kind}\0{name}".encode()
            assert hmac.digest(key, message, "sha256")[:16].hex() not in seen
    for name in names:
        assert hashlib.sha256(name.encode()).hexdigest()[:32] not in seen
        assert name not in text


def _texts(value):
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value


def test_no_name_is_left_in_any_file(keyed, tmp_path, items):
    write_manifest(tmp_path / "keyed", keyed)
    for path in (tmp_path / "keyed").iterdir():
        text = path.read_text("utf-8")
        assert not any(name in text for name in {*items.table["subject"].to_pylist()})
    assert "protoctl resolve" in (tmp_path / "keyed" / "README.md").read_text("utf-8")


def test_two_lineages_cannot_be_joined(plain, licensed):
    one = keyed_manifest(plain, release_key(licensed, "faces-a"), subjects="omitted")
    other = keyed_manifest(plain, release_key(licensed, "faces-b"), subjects="omitted")
    assert not set(one.frame()["item"]) & set(other.frame()["item"])
    assert one.frame()["subject"].isna().all()
    digests = [m.document["dataset"]["items_digest"] for m in (one, other, plain)]
    assert len(set(digests)) == 3
    with pytest.raises(InputError, match="of different lineages"):
        compare_manifests(one, other)
    assert compare_manifests(one, keyed_manifest(plain, release_key(licensed, "faces-a"))).kept == 162


def test_items_and_subjects_have_tokens_of_their_own(licensed):
    key = release_key(licensed, "x")
    assert key.token("item", "SN001") != key.token("subject", "SN001")
    assert len(key.token("item", "SN001")) == 32
    assert len(release_key(licensed, "x", bits=96).token("item", "SN001")) == 24
    assert "secret" not in repr(key)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds 0 bytes that could be guessed"),
        (b"a" * 100_000, "holds 100,000 bytes that could be guessed"),
        (b"MIT License\n" * 20, "holds 240 bytes"),
        (None, "there is no such file"),
    ],
)
def test_a_file_that_could_be_guessed_is_refused(tmp_path, data, message):
    path = tmp_path / "terms.txt"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        release_key(path, "x")
    assert message in caught.value.message
    assert "label" in caught.value.hint


def test_a_keyed_manifest_grows_and_shrinks(licensed, tmp_path):
    everybody = people(30)
    table = everybody.table
    fewer = replace(everybody, table=table.filter(pa.array([name < "SN027" for name in table["subject"].to_pylist()])))
    names = split(fewer)
    key = release_key(licensed, names.name)
    first = keyed_manifest(names, key)
    second = extended_manifest(first, everybody, RULES, key=key)
    assert second.keyed
    old, new = first.splits_by_item(), second.splits_by_item()
    assert {item: new[item] for item in old} == old
    assert len(new) == len(everybody)
    third = withdrawn_manifest(second, ["SN003"], reason="data-subject-request", by="subject", key=key)
    assert len(third.splits_by_item()) == len(new) - 6
    write_manifest(tmp_path / "third", third)
    assert verify_folder(tmp_path / "third").faults == []
    with pytest.raises(InputError) as caught:
        extended_manifest(first, everybody, RULES)
    assert "holds tokens" in caught.value.message
    assert "--key-file" in caught.value.hint


def test_verified_by_the_holder(plain, keyed, licensed, tmp_path, items):
    write_manifest(tmp_path / "keyed", keyed)
    root = tmp_path / "data"
    for name in items.table["item"].to_pylist():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    (root / "SN000" / "00000.jpg").unlink()
    found = verify_folder(tmp_path / "keyed")
    verify_root(found, root)
    assert found.faults == []
    assert any("the rows are tokens" in text for text in found.unseen)
    key = open_key(found.manifest, licensed)
    verify_root(found, root, key=key)
    assert [str(fault) for fault in found.faults] == [f"{key.token('item', 'SN000/00000.jpg')}: is absent"]
    again = verify_folder(tmp_path / "keyed")
    verify_recomputed(again, items, RULES, key=key)
    assert again.faults == []


def test_tables_before_and_after_a_withdrawal_do_not_give_the_person_away(plain, licensed):
    document = {**plain.document, "balance": suppressed_balance(plain.document["balance"])}
    first = keyed_manifest(replace(plain, document=document), release_key(licensed, plain.name))
    gone = first.frame()["subject"][0]
    second = withdrawn_manifest(first, [gone], reason="data-subject-request", by="subject")
    before, after = first.document["balance"], second.document["balance"]
    assert {key: value for key, value in after.items() if key != "as_of"} == before
    assert first.document["dataset"] == second.document["dataset"]
    assert first.document["columns"] == second.document["columns"]
    assert compare_manifests(first, second).categories == ()


def test_a_number_of_items_that_nobody_else_has_is_counted():
    rows = {"item": list("abcdef"), "subject": ["P", "P", "P", "Q", "R", "S"], "split": ["train"] * 6}
    assert fingerprints(pa.table(rows)) == (1, 4)


def test_what_cannot_be_keyed_or_resolved(plain, keyed, licensed):
    key = release_key(licensed, plain.name)
    with pytest.raises(InputError, match="is keyed already"):
        keyed_manifest(keyed, key)
    with pytest.raises(InputError) as caught:
        open_key(plain, licensed)
    assert "holds names, not tokens" in caught.value.message


def test_the_command(protoctl, in_empty_folder, plain, keyed, licensed, items):
    write_manifest("keyed", keyed)
    items.table.to_pandas().to_csv("faces.csv", index=False)
    document = json.loads((in_empty_folder / "keyed" / "manifest.json").read_text())
    assert document["assignments"]["identity"]["key_from"] == "labels.csv"
    run = protoctl("resolve", "keyed", "--key-file", licensed, "--root", "faces.csv", "--out", "names.csv")
    assert run.code == 0, run.err
    assert "162 rows with names: keep it to yourself" in run.out
    lines = (in_empty_folder / "names.csv").read_text().splitlines()
    assert lines[0] == "item,subject,split"
    assert len(lines) == 163
    run = protoctl("resolve", "keyed", "--key-file", licensed, "--root", "faces.csv", "--out", "names.csv")
    assert run.code == 3
    assert "names.csv exists already" in run.err
    assert protoctl("resolve", "keyed", "--key-file", licensed, "--root", "faces.csv").out.splitlines() == lines
