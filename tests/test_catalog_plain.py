import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.catalog import load_items, read_plain
from protoctl.errors import InputError

ROWS = "item,subject,label,age,note\na/1.jpg,007,Fear,20,x\na/2.jpg,8,Anger,N/A,\na/3.jpg,007,Fear,31,z\n"


def written(folder, text, name="items.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_usual_names_need_no_words(tmp_path):
    items = read_plain(written(tmp_path, ROWS))
    assert items.dataset == "items"
    assert items.labels == ("label",)
    assert items.attributes == ("age", "note")
    assert items.table["subject"].to_pylist() == ["007", "8", "007"]
    assert items.table["age"].to_pylist() == ["20", None, "31"]
    assert items.report.missing == {"age": {"N/A": 1}, "note": {"": 1}}
    assert items.report.rows_read == 3


def test_the_same_rows_in_any_form_are_the_same_items(tmp_path):
    wanted = read_plain(written(tmp_path, ROWS)).table
    forms = {
        "crlf.csv": ROWS.replace("\n", "\r\n").encode(),
        "bom.csv": b"\xef\xbb\xbf" + ROWS.encode(),
        "blanks.csv": ROWS.replace(",", " , ").encode(),
        "unended.csv": ROWS.rstrip().encode(),
        "tabs.tsv": ROWS.replace(",", "\t").encode(),
        "zipped.csv.gz": gzip.compress(ROWS.encode()),
        "lines.jsonl": b'{"item":"a/1.jpg","subject":"007","label":"Fear","age":20,"note":"x"}\n'
        b'{"item":"a/2.jpg","subject":"8","label":"Anger","age":null,"note":""}\n'
        b'{"item":"a/3.jpg","subject":"007","label":"Fear","age":31,"note":"z"}\n',
    }
    for name, data in forms.items():
        (tmp_path / name).write_bytes(data)
        assert read_plain(tmp_path / name).table.to_pydict() == wanted.to_pydict(), name
    pq.write_table(wanted, tmp_path / "items.parquet")
    assert read_plain(tmp_path / "items.parquet").table.to_pydict() == wanted.to_pydict()


@given(st.permutations(range(6)))
@settings(max_examples=10, deadline=None)
def test_the_order_of_rows_changes_nothing_but_the_order(tmp_path_factory, order):
    lines = [f"{place}.jpg,p{place % 2},{'Fear' if place % 3 else ''}" for place in range(6)]
    folder = tmp_path_factory.mktemp("order")
    straight = read_plain(written(folder, "\n".join(["item,subject,label", *lines])))
    mixed = read_plain(written(folder, "\n".join(["item,subject,label", *(lines[place] for place in order)])))
    assert mixed.table.sort_by("item").to_pydict() == straight.table.sort_by("item").to_pydict()
    assert mixed.report == straight.report


def test_columns_are_named_by_options(tmp_path):
    path = written(tmp_path, "photo,who,feeling,fold,sex\n1.jpg,p,Joy,a,f\n")
    columns = {"item": "photo", "subject": "who", "label": "feeling", "split": "fold"}
    items = load_items(path, columns=columns)
    assert items.table.to_pydict() == {
        "item": ["1.jpg"], "subject": ["p"], "label": ["Joy"], "sex": ["f"], "split_released": ["a"],
    }  # fmt: skip
    with pytest.raises(InputError, match="there is no column 'foto', named as item") as refusal:
        load_items(path, columns={"item": "foto"})
    assert "did you mean 'photo'?" in str(refusal.value.hint)
    with pytest.raises(InputError, match="there is no role of a column 'sbject'") as refusal:
        load_items(path, columns={"sbject": "who"})
    assert "did you mean 'subject'?" in str(refusal.value.hint)


def test_columns_are_named_by_a_file_beside_the_table_and_options_go_first(tmp_path):
    path = written(tmp_path, "photo,who,feeling,mood,sex\n1.jpg,p,Joy,-,f\n")
    written(tmp_path, "item: photo\nsubject: who\nlabel: feeling\nattributes: [sex]\nname: mine\n", "items.yaml")
    items = read_plain(path)
    assert (items.dataset, items.attributes) == ("mine", ("sex",))
    assert items.table["label"].to_pylist() == ["Joy"]
    written(tmp_path, "item: photo\nsubject: who\nlabel: feeling\nmissing: ['-']\n", "items.yaml")
    items = read_plain(path, columns={"label": "mood"})
    assert items.table["label"].to_pylist() == [None]
    assert items.report.missing["label"] == {"-": 1}


def test_a_file_beside_the_table_is_checked(tmp_path):
    path = written(tmp_path, ROWS)
    written(tmp_path, "itm: item\nlabel: 3\n", "items.yaml")
    with pytest.raises(InputError, match=r"items\.yaml, itm") as refusal:
        read_plain(path)
    assert "did you mean 'item'?" in str(refusal.value.hint)
    assert "items.yaml, label: 3 is not a list of texts" in refusal.value.message
    written(tmp_path, "- item\n", "items.yaml")
    with pytest.raises(InputError, match="it holds no mapping") as refusal:
        read_plain(path)
    assert "item: file" in str(refusal.value.hint)


def test_a_table_whose_items_nobody_names_is_refused(tmp_path):
    with pytest.raises(InputError, match="no column names the items") as refusal:
        read_plain(written(tmp_path, "foto,label\n1.jpg,Joy\n"))
    assert "--item COLUMN" in str(refusal.value.hint)


def test_a_subject_that_is_missing_in_part_of_the_rows_is_never_guessed(tmp_path):
    path = written(tmp_path, "item,subject\n1.jpg,p\n2.jpg,NA\n3.jpg,\n")
    with pytest.raises(InputError, match=r"items\.csv:3, column subject: 2 of 3 items name no subject") as refusal:
        read_plain(path)
    assert "('': 1, 'NA': 1)" in refusal.value.message
    assert "--missing-subject own" in str(refusal.value.hint)
    own = read_plain(path, missing_subject="own")
    assert own.table["subject"].to_pylist() == ["p", None, None]
    assert "as was asked: 2" in own.report.warnings[0]
    dropped = read_plain(path, missing_subject="drop")
    assert dropped.table["item"].to_pylist() == ["1.jpg"]
    assert sum(dropped.report.skipped.values()) == 2
    with pytest.raises(InputError, match="'owm'") as refusal:
        read_plain(path, missing_subject="owm")
    assert "did you mean 'own'?" in str(refusal.value.hint)


def test_a_subject_column_that_names_nobody_is_none(tmp_path):
    items = read_plain(written(tmp_path, "item,subject\n1.jpg,NA\n2.jpg,\n"))
    assert not items.has_subjects
    assert "subject" not in items.table.column_names
    assert any("names no subject at all" in note for note in items.report.notes)


def test_several_people_in_an_item_are_sorted_and_each_once(tmp_path):
    items = read_plain(written(tmp_path, "item,subject\n1.jpg,q|p\n2.jpg, p | q |q\n"))
    assert items.table["subject"].to_pylist() == ["p|q", "p|q"]


def test_identical_rows_count_once_and_others_are_refused_with_both_places(tmp_path):
    items = read_plain(written(tmp_path, "item,label\n1.jpg,Joy\n1.jpg,Joy\n2.jpg,Joy\n"))
    assert len(items) == 2
    assert "1 ('1.jpg' (items.csv:2 and items.csv:3))" in items.report.warnings[0]
    with pytest.raises(InputError, match=r"items\.csv:3: item '1.jpg' stands already at items\.csv:2") as refusal:
        read_plain(written(tmp_path, "item,label\n1.jpg,Joy\n1.jpg,Fear\n"))
    assert "label 'Fear' and not 'Joy'" in refusal.value.message
    assert refusal.value.hint == "keep one of the two rows"


def test_names_outside_the_root_are_refused_with_their_places(tmp_path):
    with pytest.raises(InputError, match=r"items\.csv:3, column item: '\.\./2\.jpg' has '\.\.' in its path") as refusal:
        read_plain(written(tmp_path, "item,label\n1.jpg,Joy\n../2.jpg,Fear\n"))
    assert "from the dataset's root down" in str(refusal.value.hint)


def test_action_units_and_the_plane_are_labels(tmp_path):
    path = written(tmp_path, "item,AU12,'AU 1',au04,Valence,arousal,label,x\n1.jpg,1,0,,-0.5,0.25,Joy,y\n")
    items = read_plain(path)
    assert items.labels == ("AU1", "AU4", "AU12", "valence", "arousal", "label")
    assert items.attributes == ("x",)
    assert items.table["AU4"].to_pylist() == [None]
    assert read_plain(path, task="va").labels == ("valence", "arousal")
    assert read_plain(path, task="au").labels == ("AU1", "AU4", "AU12")
    with pytest.raises(InputError, match="there is no task of a plain table 'av'"):
        read_plain(path, task="av")
    with pytest.raises(InputError, match="no column is a label of the task au") as refusal:
        read_plain(written(tmp_path, ROWS), task="au")
    assert "--label" in str(refusal.value.hint)


def test_annotation_is_manual_or_automatic(tmp_path):
    items = read_plain(written(tmp_path, "item,label,annotation\n1.jpg,Joy,Manual\n2.jpg,Joy,automatic\n"))
    assert items.table["annotation"].to_pylist() == ["manual", "automatic"]
    with pytest.raises(InputError, match=r"items\.csv:2, column annotation: 'robot' is none of the known") as refusal:
        read_plain(written(tmp_path, "item,label,annotation\n1.jpg,Joy,robot\n"))
    assert "known: manual, automatic" in str(refusal.value.hint)


def test_a_table_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="no item is left of 0 rows") as refusal:
        read_plain(written(tmp_path, "item,label\n"))
    assert "copied whole" in str(refusal.value.hint)


def test_the_benchmark_tables_need_no_words(bench):
    items = read_plain(bench / "disfa_like.parquet")
    assert items.has_subjects
    assert items.labels[0] == "AU1"
    assert items.table["AU12"].type == pa.string()
    assert items.attributes == ("gender", "race", "age")


def test_an_index_that_pandas_wrote_is_no_attribute(tmp_path):
    items = read_plain(written(tmp_path, ",item,label\n0,1.jpg,Joy\n1,2.jpg,Fear\n"))
    assert items.table.to_pydict() == {"item": ["1.jpg", "2.jpg"], "label": ["Joy", "Fear"]}
