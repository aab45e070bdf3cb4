"""Tables as text: every form of file gives the same table, and every complaint its place."""

import gzip

import pandas as pd
import pytest

from protoctl.errors import InputError
from protoctl.tabular import read_table

ROWS = [{"item": "00012", "label": "NA"}, {"item": "3-9", "label": "true, or so"}, {"item": "é", "label": ""}]


@pytest.fixture
def forms(tmp_path):
    """Return the same rows in every form of file."""
    frame = pd.DataFrame(ROWS)
    plain = frame.to_csv(index=False).encode()
    files = {
        "plain.csv": plain,
        "crlf.csv": plain.replace(b"\n", b"\r\n"),
        "bom.csv": b"\xef\xbb\xbf" + plain,
        "unended.csv": plain.rstrip(b"\n"),
        "packed.csv.gz": gzip.compress(plain),
        "tabs.tsv": frame.to_csv(index=False, sep="\t").encode(),
        "semicolons.csv": frame.to_csv(index=False, sep=";").encode(),
        "blanks.csv": plain.replace(b"00012,", b" 00012 ,"),
        "lines.jsonl": frame.to_json(orient="records", lines=True).encode(),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    frame.to_parquet(tmp_path / "columns.parquet")
    return [*(tmp_path / name for name in files), tmp_path / "columns.parquet"]


def test_every_form_gives_the_same_text(forms):
    assert {path.name: read_table(path).table.to_pylist() for path in forms} == {path.name: ROWS for path in forms}


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"item,label\na,1\nb,2\n", [2, 3]),
        (b"item,label\n\na,1\n\n\nb,2\n", [3, 6]),
        (b'item,label\na,"one\ntwo"\nb,2\n', [2, 4]),
    ],
)
def test_places_name_the_line_of_the_file(tmp_path, data, lines):
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    table = read_table(path)
    assert [table.place(row) for row in range(2)] == [f"t.csv:{line}" for line in lines]
    assert table.place(1, "label") == f"t.csv:{lines[1]}, column label"


def test_places_in_json_lines_and_parquet(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"item": "a"}\n\n{"item": "b"}\n')
    assert read_table(tmp_path / "t.jsonl").place(1) == "t.jsonl:3"
    pd.DataFrame(ROWS).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").place(1) == "t.parquet, row 2"


def test_a_column_that_is_missing_has_its_close_match(tmp_path):
    (tmp_path / "t.csv").write_text("item,lable\na,1\n")
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / "t.csv").require(["item", "label"])
    assert "there is no column 'label'" in caught.value.message
    assert caught.value.hint == "did you mean 'lable'? There are: item, lable"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.csv", b"a,a\n1,2\n", "t.csv:1: column 'a' stands twice"),
        ("t.csv", b"a,b\n1,2,3\n", "t.csv:2: 3 fields where the header has 2"),
        ("t.csv", "a,b\n".encode("utf-16"), "is UTF-16 text"),
        ("t.jsonl", b'{"a": 1}\n{"a": \n', "t.jsonl:2: is not JSON"),
        ("t.jsonl", b"[1]\n", "t.jsonl:1: is not a JSON object"),
        ("t.parquet", b"PAR0", "is not a Parquet file"),
        ("t.csv.gz", b"no gzip", "cannot be read"),
    ],
)
def test_files_that_are_no_tables(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / name)
    assert message in caught.value.message
