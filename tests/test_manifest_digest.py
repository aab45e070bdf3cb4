"""The digest of an assignment: what it is, what it does not depend on, what has none."""

import gzip
import hashlib
import json
import random
import subprocess
import unicodedata

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.errors import InputError
from protoctl.manifests import assignment_digest, canonical_rows
from protoctl.manifests.digest import items_digest
from protoctl.manifests.readme import shell_line
from protoctl.tabular import read_table

ROWS = [
    ("0/00012.jpg", "007", "train"),
    ("0/00013.jpg", "NA", "test"),
    ("é/NA", "S1|S2", "valid"),
    ("a b/c.jpg", "", "test"),
    ("Z/null.jpg", "Jürgen", "train"),
]


def digest_by_hand(rows, columns=("item", "subject", "split")):
    lines = sorted("\t".join(row).encode() + b"\n" for row in rows)
    head = "protoctl:assignments:v1\n" + "\t".join(columns) + "\n"
    return "sha256:" + hashlib.sha256(head.encode() + b"".join(lines)).hexdigest()


def table(rows, columns=("item", "subject", "split")):
    return pa.table({name: [row[at] or None for row in rows] for at, name in enumerate(columns)})


def digest(rows):
    return assignment_digest(canonical_rows(table(rows)))


def csv_text(rows, end="\n"):
    return end.join(",".join(row) for row in [("item", "subject", "split"), *rows]) + end


def shuffled(rows):
    rows = list(rows)
    random.Random(3).shuffle(rows)
    return rows


def test_it_is_what_the_specification_says():
    assert digest(ROWS) == digest_by_hand(ROWS)
    subjects = [("SN002", "test"), ("SN001", "train")]
    assert assignment_digest(canonical_rows(table(subjects, ("subject", "split")))) == digest_by_hand(
        subjects, ("subject", "split")
    )


def write_jsonl(path):
    lines = [
        json.dumps({"split": c, "subject": b or None, "item": a} if at % 2 else {"item": a, "split": c, "subject": b})
        for at, (a, b, c) in enumerate(ROWS)
    ]
    path.write_text("\n".join(lines))


FORMATS = {
    "lf.csv": lambda path: path.write_text(csv_text(ROWS), "utf-8", newline=""),
    "crlf.csv": lambda path: path.write_text(csv_text(ROWS, "\r\n"), "utf-8", newline=""),
    "bom.csv": lambda path: path.write_bytes(b"\xef\xbb\xbf" + csv_text(ROWS).encode()),
    "shuffled.csv": lambda path: path.write_text(csv_text(shuffled(ROWS)), "utf-8"),
    "gzip.csv.gz": lambda path: path.write_bytes(gzip.compress(csv_text(ROWS).encode())),
    "tabs.tsv": lambda path: path.write_text(csv_text(ROWS).replace(",", "\t"), "utf-8"),
    "parquet.parquet": lambda path: pq.write_table(table(shuffled(ROWS)), path, use_dictionary=True),
    "lines.jsonl": write_jsonl,
    "nfd.csv": lambda path: path.write_text(unicodedata.normalize("NFD", csv_text(ROWS)), "utf-8"),
    "backslashes.csv": lambda path: path.write_text(csv_text(ROWS).replace("/", "\\"), "utf-8"),
    "dotted.csv": lambda path: path.write_text(csv_text([(f"./{a}", b, c) for a, b, c in ROWS]), "utf-8"),
    "people.csv": lambda path: path.write_text(csv_text(ROWS).replace("S1|S2", "S2|S1"), "utf-8"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_from_every_format(tmp_path, name):
    FORMATS[name](tmp_path / name)
    assert assignment_digest(canonical_rows(read_table(tmp_path / name).table)) == digest_by_hand(ROWS)


def test_the_line_of_shell_recomputes_it(tmp_path):
    (tmp_path / "assignments.csv").write_text(csv_text(shuffled(ROWS)), "utf-8")
    line = shell_line(("item", "subject", "split"))
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "sha256:" + done.stdout.split()[0] == digest_by_hand(ROWS)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_order_gives_the_digest_of_the_definition(data):
    letters = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters=',"|\\'), min_size=1)
    names = data.draw(st.lists(letters.filter(lambda text: text.strip() == text), min_size=1, max_size=12))
    names = list(dict.fromkeys(unicodedata.normalize("NFC", "x" + name.replace("..", "_")) for name in names))
    rows = [
        (name, data.draw(st.sampled_from(["", "S1", "S2"])), data.draw(st.sampled_from(["a", "b"]))) for name in names
    ]
    rows = [row for row in rows if all(unicodedata.category(mark) != "Cc" for mark in row[0])]
    rows = [row for row in rows if row[0][1:2] != ":"] or [("x", "", "a")]
    assert digest(data.draw(st.permutations(rows))) == digest_by_hand(rows)


def test_one_value_more_or_less_changes_it():
    seen = {digest(ROWS), digest(ROWS[1:]), digest([*ROWS[:-1], (ROWS[-1][0], ROWS[-1][1], "test")])}
    seen |= {digest([(ROWS[0][0], "7", "train"), *ROWS[1:]])}
    assert len(seen) == 4


REFUSED = {
    "": ("'' is empty", "every row names"),
    "../../x": ("'../../x' has '..' in its path", "below the dataset's folder"),
    "C:\\x": ("'C:\\\\x' begins with a drive letter", "below the dataset's folder"),
    "/x": ("'/x' is an absolute path", "below the dataset's folder"),
    "a\tb": ("'a\\tb' holds a control character", "rename it"),
    " a": ("' a' has blanks at its ends", "below the dataset's folder"),
    "a,b": ("'a,b' holds a comma", "the shell line"),
    'a"b': ("holds a quotation mark", "the shell line"),
}


@pytest.mark.parametrize("item", REFUSED)
def test_what_has_no_canonical_form(item):
    rows = pa.table({"item": ["good.jpg", item], "subject": [None, None], "split": ["train", "train"]})
    with pytest.raises(InputError) as caught:
        canonical_rows(rows)
    message, hint = REFUSED[item]
    assert "row 2, column item: " in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_an_id_that_stands_twice_is_named_with_both_places(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("item,subject,split\nb\u00e9.jpg,S,train\na.jpg,S,train\nbe\u0301.jpg,S,test\n", "utf-8")
    text = read_table(path)
    with pytest.raises(InputError) as caught:
        canonical_rows(text.table, place=text.place)
    assert "rows.csv:4, column item: item 'bé.jpg' stands twice (first: rows.csv:2, column item)" in str(caught.value)
    assert caught.value.hint == "every item has one split; remove one of the rows"


def test_every_fault_is_named():
    rows = pa.table({"item": ["/a", "b"], "subject": ["S", "S1||S2"], "split": ["train", None]})
    with pytest.raises(InputError) as caught:
        canonical_rows(rows)
    assert "3 problems" in str(caught.value)
    assert "row 2, column subject: 'S1||S2' names somebody without a name" in str(caught.value)
    assert "row 2, column split: '' is empty" in str(caught.value)
    with pytest.raises(InputError, match="no column 'split'"):
        canonical_rows(pa.table({"item": ["a"]}))
    with pytest.raises(InputError, match="has no row"):
        canonical_rows(pa.table({"item": pa.array([], pa.string()), "split": pa.array([], pa.string())}))


def test_commas_are_taken_where_that_is_asked_for():
    rows = pa.table({"item": ["a,b"], "subject": ["S"], "split": ["train"]})
    assert assignment_digest(canonical_rows(rows, quoted=True)) == digest_by_hand([("a,b", "S", "train")])


def test_the_digest_of_items_depends_on_values_only():
    items = pa.table({"item": ["b", "a"], "age": ["1", None], "race": ["x\ty", "\\N"]})
    order = canonical_rows(pa.table({"item": ["b", "a"], "split": ["t", "t"]})).order
    found = items_digest(items, ("age", "race"), order)
    lines = "protoctl:items:v1\nitem\tage\trace\na\t\\N\t\\\\N\nb\t1\tx\\ty\n"
    assert found == "sha256:" + hashlib.sha256(lines.encode()).hexdigest()
    assert found == items_digest(items.take([1, 0]), ("race", "age"))
