import pytest

from protoctl.audit import subjects_in_two_splits
from protoctl.catalog import join_attributes, load_items, release_items
from protoctl.errors import InputError
from protoctl.partition import balance_of, given_partition
from protoctl.protocols import load_protocol

FAIR = load_protocol("fair-55-15-30")
UNITS = {
    "disfa": "AU1,AU2,AU4,AU5,AU6,AU9,AU12,AU15,AU17,AU20,AU25,AU26",
    "emotionet": "AU1,AU2,AU4,AU5,AU6,AU9,AU12,AU17,AU20,AU25,AU26",
    "gft": "AU1,AU2,AU4,AU5,AU6,AU7,AU9,AU10,AU11,AU12,AU15,AU17,AU23,AU24",
    "raf-au": "AU1,AU2,AU4,AU5,AU6,AU9,AU10,AU12,AU16,AU17,AU25,AU26,AU27",
}


def write(folder, header, **rows):
    folder.mkdir(parents=True, exist_ok=True)
    for split, lines in rows.items():
        (folder / f"{split}.csv").write_text("\n".join([header, *lines]) + "\n")


@pytest.fixture
def affectnet(tmp_path):
    folder = tmp_path / "AffectNet/annotations"
    expression = "name,expression,age,gender,race"
    write(
        folder / "EXPR/expr8",
        f"99,{expression}",
        train=["0,train_set/120.jpg,Happiness,20-29,Female,White", "1,train_set/3.jpg,Contempt,70+,Male,Asian"],
        valid=["0,val_set/7.jpg,Contempt,70+,Male,Asian"],
        test=["0,train_set/9.jpg,Fear,9-Mar,Female,", "1,train_set/8.jpg,Anger,Oct-19,Male,Indian"],
    )
    write(folder / "EXPR/expr7", expression, train=["train_set/120.jpg,Happiness,20-29,Female,White"])
    write(
        folder / "VA",
        "name,valence,arousal,age,gender,race",
        train=["train_set/120.jpg,0.5,-0.25,20-29,Female,White"],
        test=["train_set/9.jpg,-2,-2,03-09,Female,Black"],
    )
    return tmp_path


def test_affectnets_expressions_with_their_partition(affectnet):
    items = load_items("affectnet", root=affectnet)
    assert items.table.to_pydict() == {
        "item": [
            "train_set/images/120.jpg",
            "train_set/images/3.jpg",
            "val_set/images/7.jpg",
            "train_set/images/9.jpg",
            "train_set/images/8.jpg",
        ],
        "label": ["Happiness", "Contempt", "Contempt", "Fear", "Anger"],
        "age": ["20-29", "70+", "70+", "03-09", "10-19"],
        "gender": ["Female", "Male", "Male", "Female", "Male"],
        "race": ["White", "Asian", "Asian", None, "Indian"],
        "annotation": ["manual"] * 5,
        "split_released": ["train", "train", "valid", "test", "test"],
    }
    assert [warning.split(":")[0] for warning in items.report.warnings] == ["test.csv", "test.csv"]
    assert "read as 03-09" in items.report.warnings[0]
    assert "columns that the task does not use: 99" in items.report.notes
    assert any("a model predicted them" in note for note in items.report.notes)


def test_affectnets_other_tasks(affectnet):
    valued = load_items("affectnet", root=affectnet / "AffectNet/annotations", task="va")
    assert valued.table["valence"].to_pylist() == ["0.5", None]
    seven = given_partition(load_items("affectnet", root=affectnet, task="expression-7"), FAIR)
    assert seven.left_out == {"not in task expression-7": 2}
    assert seven.items.table["label"].to_pylist() == ["Happiness", "Fear", "Anger"]


@pytest.mark.parametrize("place", ["EXPR", "EXPR/expr8", ""])
def test_the_files_are_found_at_each_level(affectnet, place):
    wanted = load_items("affectnet", root=affectnet).table
    folder = affectnet / "AffectNet/annotations/EXPR/expr8"
    for split in ("train", "valid", "test"):
        (affectnet / "other" / place).mkdir(parents=True, exist_ok=True)
        (affectnet / "other" / place / f"{split}.csv").write_text((folder / f"{split}.csv").read_text())
    assert load_items("affectnet", root=affectnet / "other").table.equals(wanted)


def test_raf_db_has_its_own_order_groups_and_unsure(tmp_path):
    write(
        tmp_path,
        "name,gender,race,age,expression",
        train=["train_00001.jpg,Unsure,White,00-03,Surprise", "train_00002.jpg,Female,Black,19-Apr,Neutral"],
        test=["test_0004.jpg,Male,Asian,70+,Anger"],
    )
    items = load_items("raf-db", root=tmp_path)
    assert items.table["gender"].to_pylist() == [None, "Female", "Male"]
    assert items.table["age"].to_pylist() == ["00-03", "04-19", "70+"]
    assert items.report.missing["gender"] == {"Unsure": 1}
    given = given_partition(items, FAIR)
    assert given.splits == ("train", "valid", "test")
    assert balance_of(given).rows[0].items == (2, 0, 1)


def unit_row(name, units, values, tail):
    cells = values + ["0"] * (len(units.split(",")) - len(values))
    return ",".join([name, *cells, *tail])


def test_disfa_and_gft_find_their_subjects_and_torn_ones_are_seen(tmp_path):
    units = UNITS["disfa"]
    rows = [
        unit_row(f"{view}VideoSN001/00001.jpg", units, ["3"], ["20-29", "Male", "White"]) for view in ("Left", "Right")
    ]
    write(tmp_path / "DISFA/annotations", f"name,{units},age,gender,race", train=rows[:1], test=rows[1:])
    items = load_items("disfa", root=tmp_path)
    assert items.table["subject"].to_pylist() == ["SN001", "SN001"]
    assert items.table["AU1"].to_pylist() == ["3", "3"]
    assert subjects_in_two_splits(given_partition(items, FAIR).table()) == ["SN001"]
    units = UNITS["gft"]
    row = unit_row("001A/1.jpg", units, ["1"], ["21", "Female", "Other"])
    write(tmp_path / "GFT/annotations", f"name,{units},age,gender,race", valid=[row])
    items = load_items("gft", root=tmp_path)
    assert items.table.select(["subject", "group", "age", "race"]).to_pylist() == [
        {"subject": "001A", "group": "001", "age": "21", "race": "Other"}
    ]
    assert given_partition(items, FAIR).items.table["age"].to_pylist() == ["21"]


def test_emotionets_unknown_units_stay_unknown(tmp_path):
    units = UNITS["emotionet"]
    row = unit_row("validation/000001.jpg", units, ["1", "0", "-1"], ["20-29", "Male", "White"])
    write(tmp_path, f"name,{units},age,gender,race", train=[row])
    items = load_items("emotionet", root=tmp_path)
    assert [items.table[unit][0].as_py() for unit in ("AU1", "AU2", "AU4")] == ["1", "0", None]
    assert items.report.missing["AU4"] == {"-1": 1}


def test_raf_au_as_attributes_of_the_releases_items(tmp_path):
    units = UNITS["raf-au"]
    rows = [unit_row(f"{number:04}.jpg", units, ["1"], ["20-29", "Male", "White"]) for number in (3, 4)]
    write(tmp_path / "fair", f"name,{units},age,gender,race", train=rows[:1], test=rows[1:])
    (tmp_path / "RAFAU_label.txt").write_text("0003.jpg 1\n0004.jpg null\n0005.jpg 2\n")
    for place in ("fair", "fair/train.csv"):
        items = load_items("raf-au", root=tmp_path / "RAFAU_label.txt", attributes=[tmp_path / place])
        found = 2 if place == "fair" else 1
        assert items.table["age"].to_pylist() == ["20-29"] * found + [None] * (3 - found)
        assert items.table["AU1"].to_pylist() == ["1", "0", "0"]
        assert items.attributes == ("age", "gender", "race")
        assert "split_released" not in items.table.column_names
        assert len(items.sources) == 1 + found


def test_files_of_another_dataset_are_refused(affectnet, tmp_path):
    (tmp_path / "items.csv").write_text("item,label\n1.jpg,Joy\n")
    with pytest.raises(InputError, match="holds files of the fair and consistent protocol, and items has none") as no:
        join_attributes(load_items(tmp_path / "items.csv"), affectnet / "AffectNet/annotations/EXPR/expr8")
    assert "affectnet, raf-db" in str(no.value.hint)
    (tmp_path / "DISFA").mkdir()
    write(tmp_path / "DISFA", "name,expression,age,gender,race", train=["a.jpg,Fear,20-29,Male,White"])
    with pytest.raises(InputError, match="there is no column 'AU1'") as refusal:
        load_items("disfa", root=tmp_path / "DISFA")
    assert "There are: name, expression" in str(refusal.value.hint)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("train_set/1.jpg,Joy,20-29,Male,White", r"train\.csv:2, column label: 'Joy' is none of"),
        ("train_set/1.jpg,Fear,25,Male,White", "column age: '25' is none of"),
        ("train_set/1.jpg,Fear,5-May,Male,White", "column age: '5-May' is none of"),
        ("train_set/1.jpg,Fear,20-29,male,White", "column gender: 'male' is none of"),
        ("train_set/1.jpg,Fear,20-29,Male,Caucasian", "column race: 'Caucasian' is none of"),
    ],
)
def test_an_unknown_value_is_refused_with_its_place(tmp_path, row, message):
    write(tmp_path, "name,expression,age,gender,race", train=[row])
    with pytest.raises(InputError, match=message) as refusal:
        load_items("affectnet", root=tmp_path)
    assert "known: " in str(refusal.value.hint)


def test_the_command_audits_such_files_as_a_given_partition(tmp_path, protoctl):
    units = UNITS["disfa"]
    header = f"name,{units},age,gender,race"
    rows = [unit_row(f"LeftVideoSN{at:03}/00001.jpg", units, ["3"], ["20-29", "Male", "White"]) for at in (1, 2, 3)]
    torn = unit_row("RightVideoSN001/00001.jpg", units, ["0"], ["20-29", "Male", "White"])
    write(tmp_path, header, train=rows[:1], valid=rows[1:2], test=[rows[2], torn])
    run = protoctl("audit", tmp_path, "--protocol", "fair-55-15-30", "--json")
    assert run.code == 5
    assert "subjects in two splits (1 of 3: SN001)" in run.err
    active = next(row for row in run.json["balance"]["categories"] if row["attribute"] == "AU1")
    assert active["items"] == [1, 1, 1]


@pytest.mark.parametrize(
    ("header", "name", "found"),
    [
        (f"name,{UNITS['emotionet']},age,gender,race", "validation/1.jpg", ("emotionet", "au")),
        (f"name,{UNITS['gft']},age,gender,race", "001A/1.jpg", ("gft", "au")),
        (f"name,{UNITS['raf-au']},age,gender,race", "0001.jpg", ("raf-au", "au")),
        ("name,gender,race,age,expression", "train_00001.jpg", ("raf-db", "expression")),
        ("name,expression,age,gender,race", "val_set/1.jpg", ("affectnet", "expression")),
        ("name,valence,arousal,age,gender,race", "train_set/1.jpg", ("affectnet", "va")),
    ],
)
def test_columns_and_names_tell_the_dataset(tmp_path, header, name, found):
    values = {"name": name, "age": "21" if found[0] == "gft" else "20-39" if found[0] == "raf-db" else "20-29"}
    values |= {"gender": "Male", "race": "White", "expression": "Fear"}
    write(tmp_path, header, train=[",".join(values.get(column, "0") for column in header.split(","))])
    items = release_items(tmp_path)
    assert (items.dataset, items.task) == found
    assert items.table["split_released"].to_pylist() == ["train"]


def test_other_files_of_such_names_are_nobodys(tmp_path):
    write(tmp_path, "name,label,age,gender,race", train=["1.jpg,Joy,20-29,Male,White"])
    assert release_items(tmp_path) is None
    write(tmp_path, "name,AU1,AU99,age,gender,race", train=["1.jpg,1,0,20-29,Male,White"])
    assert release_items(tmp_path) is None
