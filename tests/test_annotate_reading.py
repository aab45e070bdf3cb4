"""Exports and tables: the same votes from every format, a ledger that adds up, and every trap of a parser."""

import gzip
import json

import pytest

from protoctl.annotate import (
    Settling,
    load_scale,
    parse_config,
    parse_scale,
    read_annotations,
    read_config,
    settle,
    votes_of,
)
from protoctl.errors import InputError, VotesError
from protoctl.scales import FITZPATRICK, Scale


@pytest.fixture(scope="module")
def exports(real):
    return real / "label_studio"


def read(*paths, scale=FITZPATRICK, unit="subject_id", format="auto", **options):
    return settle(read_annotations(paths, scale=scale, unit=unit, format=format), scale, **options)


def rows(votes, rename=str):
    return [
        (
            votes.units[unit],
            rename(votes.annotators[who]) if who >= 0 else None,
            votes.scale.categories[said],
            bool(doubt),
        )
        for unit, who, said, doubt in zip(votes.unit, votes.annotator, votes.category, votes.doubtful, strict=True)
    ]


def export(path, tasks, name="export.json"):
    file = path / name
    file.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks), encoding="utf-8")
    return file


def result(value, control="skin_type", kind="choices"):
    return {"from_name": control, "to_name": "i", "type": kind, "value": {kind: value}}


def annotation(number, who, *values, **more):
    return {"id": number, "completed_by": who, "result": [result(list(values))] if values else [], **more}


def task(number, *annotations, **more):
    return {"id": number, "data": {"subject_id": f"s{number}"}, "annotations": list(annotations), **more}


def refusal(call, error=VotesError):
    with pytest.raises(error) as caught:
        call()
    return caught.value.message, caught.value.hint


class TestProjectOne:
    def test_the_ledger_adds_up(self, exports):
        votes = read(exports / "project1_all.json")
        ledger = votes.ledger
        assert str(ledger) == ("19 annotations = 15 used + 1 superseded + 2 skipped + 1 empty, and 1 draft beside")
        assert (ledger.tasks, ledger.bare, ledger.flagged) == (14, 7, 10)
        assert (votes.control, len(votes), len(votes.units)) == ("skin_type", 15, 14)
        assert "annotations flagged as ground truth that count as votes: 10" in " ".join(votes.warnings)
        assert "votes superseded, since their annotator voted twice on the unit: 1" in " ".join(votes.warnings)
        assert "annotations begun from a model's prediction, which draws votes towards it: 1" in votes.warnings
        assert "doubt is read from uncertain" in votes.notes
        assert ("0001", "2", "IV", False) in rows(votes)

    @pytest.mark.parametrize(
        "name",
        [
            "project1_snapshot_expanded.json",
            "project1_all.min.json",
            "project1_snapshot_expanded.min.json",
            "project1_all.csv",
            "project1_all.tsv",
            "project1_snapshot_expanded.csv",
        ],
    )
    def test_every_format_gives_the_same_votes(self, exports, name):
        votes = read(exports / name)
        expected = rows(read(exports / "project1_all.json"))
        assert rows(votes, lambda who: who.removesuffix("@example.org").removeprefix("a")) == expected
        assert votes.units == read(exports / "project1_all.json").units
        whole = name.endswith("expanded.json")
        assert sum(votes.ledger.counts.values()) == (20 if whole else 17)
        lost = "this format does not hold skipped annotations, ground truth flags, drafts and predictions"
        assert any(text.startswith(lost) for text in votes.warnings) is not whole

    def test_task_is_the_unit_by_default(self, exports):
        votes = read(exports / "project1_all.json", unit="task")
        assert set(votes.units) == {str(number) for number in range(1, 15)}
        assert votes.unit_kind == "item"
        assert rows(read(exports / "project1_all.csv", unit="task")) == rows(votes)

    @pytest.mark.parametrize(
        ("rule", "used", "gold"), [("vote", 15, 0), ("gold", 5, 10), ("exclude", 5, 10), ("auto", 15, 0)]
    )
    def test_ground_truth_rules(self, exports, rule, used, gold):
        votes = read(exports / "project1_all.json", settling=Settling(ground_truth=rule))
        assert (votes.ledger.counts["used"], votes.ledger.counts["gold"]) == (used, gold)
        assert dict(votes.gold) == ({"0003": "I", "dict email": "III"} if rule == "gold" else {})

    def test_the_first_submission_may_count(self, exports):
        votes = read(exports / "project1_all.json", settling=Settling(duplicates="first"))
        assert ("0001", "2", "III", False) in rows(votes)
        message, hint = refusal(lambda: read(exports / "project1_all.json", settling=Settling(duplicates="refuse")))
        assert "project1_all.json: $[0].annotations[3] (task 1): annotator 2 has voted on this unit before" in message
        assert hint == "let the last one count: --duplicates last"

    def test_several_controls_each_have_their_own_ledger(self, exports):
        annotations = read_annotations([exports / "project1_all.json"], unit="subject_id")
        lighting = Scale("lighting", ("bright", "dark", "mixed"), ordered=False)
        votes = settle(annotations, lighting, control="lighting", settling=Settling(invalid="count"))
        assert str(votes.ledger) == ("19 annotations = 1 used + 2 skipped + 15 empty + 1 invalid, and 1 draft beside")
        stars = Scale("stars", tuple("12345"), ordered=True)
        assert len(settle(annotations, stars, control="confidence")) == 2

    def test_an_absent_control_lists_those_seen(self, exports):
        message, hint = refusal(lambda: read(exports / "project1_all.json", control="skin_typ"))
        assert message == (
            "project1_all.json: no annotation has a control 'skin_typ'; controls seen: skin_type (choices), "
            "uncertain (choices), lighting (choices), confidence (rating), note (textarea)"
        )
        assert hint == "did you mean 'skin_type'?"
        message, hint = refusal(lambda: read(exports / "project1_all.json", doubt_control="hmm"))
        assert "no annotation has a control 'hmm'; controls seen:" in message
        assert hint == "where nobody doubted, leave --doubt-control out"

    def test_an_absent_field_names_those_there(self, exports):
        message, hint = refusal(lambda: read(exports / "project1_all.json", unit="subject"))
        assert "$[0] (task 1): there is no field 'subject' with a value in the task's data" in message
        assert hint == "did you mean 'subject_id'? There are: image, note_in, subject_id"
        message, hint = refusal(lambda: read(exports / "project1_all.csv", unit="subject"))
        assert message.endswith("there is no field 'subject' in the tasks' data")
        assert hint.startswith("did you mean 'subject_id'?")

    def test_the_configuration_knows_aliases_and_controls(self, exports, tmp_path):
        config = read_config(exports / "label_config.xml")
        assert config["skin_type"].choices["Type III"] == "3"
        assert config["confidence"].tag == "Rating"
        other = Scale("letters", ("a", "b"), ordered=True)
        declared = parse_config(
            '<View><Choices name="x" toName="i"><Choice value="a" alias="1"/><Choice value="2nd" alias="b"/></Choices>'
            '<Choices name="unsure" toName="i"><Choice value="yes"/></Choices></View>',
            "config",
        )
        file = export(tmp_path, [task(1, annotation(1, 1, "1"), annotation(2, 2, "2nd"))])
        file.write_text(file.read_text().replace("skin_type", "x"))
        votes = read(file, scale=other, config=declared, doubt_control="unsure")
        assert rows(votes) == [("s1", "1", "a", False), ("s1", "2", "b", False)]
        seen = settle(read_annotations([file], unit="subject_id"), None, config=declared)
        assert seen.scale.categories == ("a", "2nd")


def test_project_two(exports):
    votes = read(exports / "project2_3011x8.json")
    assert (len(votes), int(votes.doubtful.sum()), len(votes.units)) == (23_567, 3_055, 3_011)
    assert votes.annotators == tuple("12345678")
    assert rows(read(exports / "project2_3011x8.csv")) == rows(votes)


class TestTraps:
    def test_tasks_that_stand_twice(self, tmp_path):
        one = task(1, annotation(1, 1, "3"), annotation(2, 2, "4"))
        votes = read(export(tmp_path, [one, one, task(2, annotation(3, 1, "5"))]))
        assert str(votes.ledger) == "5 annotations = 3 used + 2 duplicate"
        assert "annotations that the files hold more than once: 2 (each counts once)" in votes.warnings

    def test_the_newest_copy_counts(self, tmp_path):
        old = task(1, annotation(1, 1, "3", updated_at="2026-01-01"), annotation(2, 2, "3"))
        new = task(1, annotation(1, 1, "5", updated_at="2026-01-02"))
        for files in (("a.json", "b.json"), ("b.json", "a.json")):
            paths = [export(tmp_path, [old if name == files[0] else new], name) for name in files]
            assert rows(read(*paths))[0] == ("s1", "1", "V", False)

    def test_only_the_newest_annotation_in_a_csv(self, tmp_path):
        text = "annotation_id,annotator,id,skin_type,subject_id,lead_time\n1,1,1,3,s1,2\n2,2,2,4,s2,2\n"
        votes = read(export(tmp_path, text, "old.csv"))
        assert "every task has exactly one annotation here; old versions of Label Studio wrote only the newest" in (
            " ".join(votes.warnings)
        )
        assert len(votes) == 2

    def test_ids_as_text_floats_or_missing(self, tmp_path):
        first = task("1001", annotation("7", 1, "3"), {"completed_by": 2, "result": [result(["4"])]})
        votes = read(export(tmp_path, [first]))
        assert rows(votes) == [("s1001", "1", "III", False), ("s1001", "2", "IV", False)]
        text = "annotation_id,annotator,id,skin_type,subject_id\n1.0,2.0,1.0,3,0001\n2.0,10.0,1.0,4,0001\n"
        votes = read(export(tmp_path, text, "floats.csv"))
        assert rows(votes) == [("0001", "2", "III", False), ("0001", "10", "IV", False)]

    def test_annotators_of_every_form(self, tmp_path):
        forms = [4, {"id": 5, "email": "b@example.org"}, "c@example.org", None, {"id": 6}, 7.0]
        held = [annotation(number, who, "3") for number, who in enumerate(forms)]
        held.append({"id": 99, "result": [result(["3"])]})
        votes = read(export(tmp_path, [task(1, *held)]))
        assert votes.annotators == ("4", "6", "7", "b@example.org", "c@example.org")
        assert (len(votes), int((votes.annotator < 0).sum())) == (7, 2)
        assert "annotations without an annotator: 2 (each counts as somebody else's)" in votes.warnings

    def test_an_annotator_of_unknown_form_is_named(self, tmp_path):
        file = export(tmp_path, [task(1, annotation(1, [4], "3")), task(2, annotation(2, True, "3"))])
        message, hint = refusal(lambda: read(file))
        assert "export.json: $[0].annotations[0] (task 1): the annotator is [4]" in message
        assert "export.json: $[1].annotations[0] (task 2): the annotator is True" in message
        assert hint == "completed_by is a number, an e-mail, an object with id and email, or null"

    def test_a_byte_order_mark(self, tmp_path):
        text = json.dumps([task(1, annotation(1, 1, "3"))])
        file = tmp_path / "bom.json"
        file.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert rows(read(file)) == [("s1", "1", "III", False)]
        table = tmp_path / "bom.csv"
        table.write_bytes(b"\xef\xbb\xbfsubject,annotator,skin_type\ns1,1,3\n")
        assert rows(read(table, unit="subject")) == [("s1", "1", "III", False)]

    def test_null_and_mixed_dates(self, tmp_path):
        held = [
            annotation(1, 1, "3", created_at=None),
            annotation(2, 1, "4", created_at="2026-01-01T00:00:00Z"),
            annotation(3, 1, "5", created_at=None, updated_at=None),
        ]
        assert rows(read(export(tmp_path, [task(1, *held)]))) == [("s1", "1", "IV", False)]

    def test_a_cell_of_json_in_a_table(self, tmp_path):
        text = (
            "annotation_id,annotator,id,skin_type,subject_id,uncertain\n"
            '1,1,1,"{""choices"": [""3""]}",s1,"[""Not confident""]"\n'
        )
        assert rows(read(export(tmp_path, text, "cells.csv"))) == [("s1", "1", "III", True)]

    def test_lone_surrogates(self, tmp_path):
        text = json.dumps([task(1, annotation(1, 1, "3"))]).replace("s1", "s\\ud800")
        votes = read(export(tmp_path, text))
        assert votes.units == ("s?",)

    def test_old_completions_and_skipped(self, tmp_path):
        held = {"id": 1, "data": {"subject_id": "s1"}, "completions": [annotation(1, 1, "3"), annotation(2, 2)]}
        held["completions"][1]["skipped"] = True
        votes = read(export(tmp_path, [held]))
        assert str(votes.ledger) == "2 annotations = 1 used + 1 skipped"

    def test_storage_exports(self, tmp_path):
        folder = tmp_path / "storage"
        folder.mkdir()
        for number, said in ((1, "3"), (2, "4")):
            held = annotation(number, number, said)
            held["result"].append({"type": "relation", "from_id": "a", "to_id": "b"})
            held["task"] = {"id": 9, "data": {"subject_id": "s9"}}
            (folder / str(number)).write_text(json.dumps(held))
        votes = read(folder)
        assert rows(votes) == [("s9", "1", "III", False), ("s9", "2", "IV", False)]
        assert votes.ledger.tasks == 1

    def test_drafts_as_ids_predictions_as_ids(self, tmp_path):
        held = task(1, annotation(1, 1, "3"), drafts=[5, 6], predictions=[1])
        assert str(read(export(tmp_path, [held])).ledger) == "1 annotations = 1 used"

    def test_a_data_field_that_a_control_hides(self, tmp_path):
        text = "_data_skin_type,annotation_id,annotator,id,skin_type,subject_id\nI,1,1,1,3,s1\n"
        file = export(tmp_path, text, "hidden.csv")
        votes = read(file)
        assert "the data of the tasks has a field skin_type beside a control of that name" in votes.notes
        assert rows(votes) == [("s1", "1", "III", False)]

    def test_a_renamed_control_is_not_dropped_in_silence(self, tmp_path):
        file = export(tmp_path, [task(1, {"id": 1, "completed_by": 1, "result": [result(["3"], "tone")]})])
        message, _ = refusal(lambda: read(file, control="skin_type"))
        assert message.endswith("no annotation has a control 'skin_type'; controls seen: tone (choices)")
        assert rows(read(file)) == [("s1", "1", "III", False)]

    def test_gzip(self, tmp_path):
        file = tmp_path / "export.json.gz"
        file.write_bytes(gzip.compress(json.dumps([task(1, annotation(1, 1, "3"))]).encode()))
        assert len(read(file)) == 1

    def test_an_element_longer_than_a_piece(self, tmp_path):
        long = task(1, annotation(1, 1, "3"), meta={"text": "é" * 3_000_000})
        votes = read(export(tmp_path, [long, task(2, annotation(2, 1, "4"))]))
        assert [row[2] for row in rows(votes)] == ["III", "IV"]


class TestRefusals:
    def test_a_category_outside_the_scale(self, tmp_path):
        file = export(
            tmp_path, [task(1, annotation(1, 1, "3"), annotation(2, 2, "VII")), task(2, annotation(3, 1, "0"))]
        )
        message, hint = refusal(lambda: read(file, control="skin_type"))
        assert "votes on skin_type are refused, 2 problems" in message
        assert "export.json: $[0].annotations[1] (task 1), skin_type: 'VII' is not on the scale fitzpatrick" in message
        assert hint == "the scale has I, II, III, IV, V, VI; or count such as invalid: --invalid count"
        votes = read(file, control="skin_type", settling=Settling(invalid="count"))
        assert str(votes.ledger) == "3 annotations = 1 used + 2 invalid"
        assert any(
            text.startswith("annotations that are invalid: 2 (first: export.json: $[0]") for text in votes.warnings
        )

    def test_two_values_for_a_single_choice(self, tmp_path):
        file = export(tmp_path, [task(1, annotation(1, 1, "3", "4"), annotation(2, 2, "3"), annotation(3, 3, "3"))])
        message, hint = refusal(lambda: read(file))
        assert message.endswith("$[0].annotations[0] (task 1), skin_type: 2 values, '3 | 4', where one is wanted")
        assert hint == "count them as invalid: --invalid count"

    def test_two_results_of_one_control(self, tmp_path):
        held = annotation(1, 1, "3")
        held["result"].append(result(["5"]))
        file = export(tmp_path, [task(1, held, annotation(2, 2, "3"))])
        assert "2 values, '3 | 5', where one is wanted" in refusal(lambda: read(file))[0]

    @pytest.mark.parametrize("cut", [0.3, 0.5, 0.999])
    def test_a_truncated_export(self, tmp_path, cut):
        text = json.dumps([task(number, annotation(number, 1, "3")) for number in range(5)])
        message, hint = refusal(lambda: read(export(tmp_path, text[: int(len(text) * cut)])))
        assert "the file ends in the middle (after " in message
        assert f"$[{int(5 * cut)}]" in message or cut > 0.9
        assert hint == "the export was cut off: fetch it again"

    def test_text_that_is_no_json_in_the_middle(self, tmp_path):
        text = json.dumps([task(1, annotation(1, 1, "3")), task(2)]).replace('"id": 2', '"id": oops')
        message, _ = refusal(lambda: read(export(tmp_path, text)))
        assert "export.json: $[1]: is not JSON (Expecting value)" in message

    @pytest.mark.parametrize(
        ("text", "message", "hint"),
        [
            ("", "is empty", "check that the export was written and copied whole"),
            ("[]", "the export holds no task", "check which project was exported, and that it has tasks"),
            ("<html>", "is not JSON: it begins with '<html>'", "a Label Studio export begins with '['; a table"),
            ("[1, 2]", "$[0]: is int and no task", "a Label Studio export lists tasks"),
            ('[{"x": 1}]', "$[0]: has no list of annotations", "export as JSON, CSV, TSV or JSON_MIN"),
        ],
    )
    def test_no_export(self, tmp_path, text, message, hint):
        found = refusal(lambda: read(export(tmp_path, text)))
        assert message in found[0]
        assert found[1].startswith(hint)

    def test_tasks_without_any_annotation(self, tmp_path):
        message, hint = refusal(lambda: read(export(tmp_path, [task(1), task(2)]), control=None))
        assert "no control holds values on the scale fitzpatrick; no annotation holds any value" in message
        assert hint == "name the right one with --control"

    def test_an_absent_file_and_an_empty_folder(self, tmp_path):
        assert refusal(lambda: read(tmp_path / "no.json"))[0].endswith("no.json: there is no such file")
        message, hint = refusal(lambda: read(tmp_path))
        assert message.endswith("is an empty folder")
        assert hint == "name the folder that holds the exported annotations"

    def test_bytes_that_are_no_utf8(self, tmp_path):
        file = tmp_path / "x.json"
        file.write_bytes(b'[{"a": "\xff"}]')
        assert "is not UTF-8 text before byte" in refusal(lambda: read(file))[0]
        file.write_bytes("[]".encode("utf-16"))
        assert refusal(lambda: read(file)) == (f"{file} is UTF-16 text, and UTF-8 is wanted", "save it as UTF-8")

    def test_formats_do_not_mix(self, exports):
        message, hint = refusal(lambda: read(exports / "project1_all.json", exports / "project1_all.csv"))
        assert message == (
            "files of different formats cannot be read together: project1_all.json (json), project1_all.csv (csv)"
        )
        assert hint == "prefer the JSON exports"

    def test_a_configuration_that_is_none(self):
        assert "is not XML" in refusal(lambda: parse_config("<View>", "c.xml"))[0]
        assert refusal(lambda: parse_config("<View/>", "c.xml")) == (
            "c.xml declares no control",
            "a control has both name= and toName=",
        )
        bomb = '<!DOCTYPE x [<!ENTITY a "b">]><View/>'
        assert "declares a document type" in refusal(lambda: parse_config(bomb, "c.xml"))[0]

    def test_a_doubt_that_cannot_be_told(self, tmp_path):
        held = annotation(1, 1, "3")
        held["result"].append(result(["maybe"], "uncertain"))
        file = export(tmp_path, [task(1, held)])
        message, hint = refusal(lambda: read(file, doubt_control="uncertain"))
        assert message.endswith("(task 1), uncertain: it cannot be told whether 'maybe' means doubt")
        assert hint.startswith("say 'Not confident' or 'Confident'")


class TestTables:
    def test_long(self, tmp_path):
        text = "subject,annotator,category,confident\n01,a,III,1\n01,b,Type 4,0\n02,a,,1\n02,b,VI,yes\n"
        votes = read(export(tmp_path, text, "votes.csv"), unit="task")
        assert rows(votes) == [("01", "a", "III", False), ("01", "b", "IV", True), ("02", "b", "VI", False)]
        assert str(votes.ledger) == "4 annotations = 3 used + 1 empty"
        assert votes.unit_kind == "subject"

    def test_long_with_several_controls(self, tmp_path):
        text = "item,annotator,gender,age\na.jpg,x,Female,20-29\na.jpg,y,Uncertain,30-39\n"
        file = export(tmp_path, text, "pair.tsv".replace("tsv", "csv"))
        votes = read(file, scale=load_scale("gender"), unit="task")
        assert (votes.control, rows(votes)) == ("gender", [("a.jpg", "x", "Female", False)])
        assert votes.ledger.counts["empty"] == 1
        assert len(settle(read_annotations([file]), None, control="age")) == 2

    def test_two_votes_that_nothing_orders(self, tmp_path):
        text = "subject,annotator,category\ns,a,III\ns,a,IV\ns,b,IV\n"
        message, hint = refusal(lambda: read(export(tmp_path, text, "votes.csv"), unit="task"))
        assert message == (
            "votes on category are refused: votes.csv:3: annotator a voted differently on s before (votes.csv:2), and "
            "nothing tells which vote came last"
        )
        assert hint == "keep one of them, or add a column updated_at"
        dated = "subject,annotator,category,updated_at\ns,a,III,2026-01-02\ns,a,IV,2026-01-01\n"
        assert rows(read(export(tmp_path, dated, "votes.csv"), unit="task")) == [("s", "a", "III", False)]

    def test_wide(self, tmp_path):
        text = "subject,ann,ben,remark\ns1,3,4,dark\ns2,,VI,\n"
        votes = read(export(tmp_path, text, "wide.csv"), unit="task")
        assert rows(votes) == [("s1", "ann", "III", False), ("s1", "ben", "IV", False), ("s2", "ben", "VI", False)]
        assert "columns that hold no vote, left out: remark" in votes.notes

    def test_wide_without_any_vote(self, tmp_path):
        file = export(tmp_path, "subject,x\ns1,blue\n", "wide.csv")
        message, hint = refusal(lambda: read(file, unit="task"))
        assert message.endswith("wide.csv: no column holds a category of the scale")
        assert hint == "columns beside subject: x; a long table needs a column annotator"

    def test_wide_with_a_wrong_value(self, tmp_path):
        file = export(tmp_path, "subject,ann,ben\ns1,3,4\ns2,9,4\n", "wide.csv")
        assert "wide.csv:3, vote: '9' is not on the scale fitzpatrick" in refusal(lambda: read(file, unit="task"))[0]

    def test_counts(self, tmp_path):
        text = "item,I,II,Type III,4,V,VI,reads\nx,0,2,1,0,0,0,3\ny,0,0,0,,0,4,4\n"
        votes = read(export(tmp_path, text, "counts.csv"), unit="task")
        assert [row[2] for row in rows(votes)] == ["II", "II", "III", "VI", "VI", "VI", "VI"]
        assert votes.annotators == ()
        assert "columns that are no category of fitzpatrick, left out: reads" in votes.notes
        assert "a table of counts does not say who voted: nothing is known of annotators" in votes.notes

    def test_counts_that_are_none(self, tmp_path):
        file = export(tmp_path, "item,I,II\nx,1,-2\n", "counts.csv")
        message, _ = refusal(lambda: read(file, unit="task", format="counts"))
        assert message.endswith("counts.csv:2, column II: '-2' is no number of votes")
        file = export(tmp_path, "item,I,1,II\nx,1,2,3\n", "counts.csv")
        assert "counts.csv:1: two columns stand for I" in refusal(lambda: read(file, unit="task"))[0]

    def test_a_name_that_stands_twice_in_counts(self, tmp_path):
        votes = read(export(tmp_path, "item,I,II\nx,1,2\nx,0,3\n,1,0\n", "counts.csv"), unit="task")
        assert votes.units == ("row 3", "x", "x (row 2)")
        assert [text.split(":")[0] for text in votes.warnings] == ["rows without item", "rows that repeat a name"]

    def test_several_tables_together(self, tmp_path):
        first = export(tmp_path, "subject,annotator,category\ns1,a,III\n", "one.csv")
        second = export(tmp_path, "subject,annotator,category,confident\ns1,b,V,0\n", "two.csv")
        votes = read(first, second, unit="task")
        assert rows(votes) == [("s1", "a", "III", False), ("s1", "b", "V", True)]
        assert rows(read(second, first, unit="task")) == rows(votes)


class TestScales:
    def test_fitzpatrick_accepts_every_spelling(self):
        spelt = ["1", "I", "i", "Type I", "type 1", " TYPE  I "]
        assert {FITZPATRICK.category(text) for text in spelt} == {"I"}
        assert FITZPATRICK.category("Type III") == "III"

    def test_monk_comes_from_yaml(self):
        monk = load_scale("monk")
        assert (len(monk.categories), monk.ordered, monk.category("mst-7")) == (10, True, "7")
        assert monk.buckets["light-medium-dark"]["7"] == "dark"

    def test_a_file_of_ones_own(self, tmp_path):
        file = tmp_path / "mood.yaml"
        file.write_text("categories: [low, high]\nordered: true\nmissing: [none]\nbuckets: {one: {low: x, high: y}}\n")
        scale = load_scale(str(file))
        assert (scale.name, scale.categories, scale.missing) == ("mood", ("low", "high"), ("none",))

    def test_refusals(self, tmp_path):
        assert refusal(lambda: load_scale("fitzpatric"))[0] == "there is no scale 'fitzpatric'"
        assert refusal(lambda: load_scale("fitzpatric"))[1].startswith("did you mean 'fitzpatrick'?")
        document = {
            "name": "x",
            "categorys": [],
            "categories": ["a", "b"],
            "ordered": "yes",
            "aliases": {"A1": "aa"},
            "buckets": {"one": {"a": "x"}},
        }
        message, hint = refusal(lambda: parse_scale(document, "x.yaml"))
        assert "scale x.yaml is refused, 4 problems" in message
        for place in ("$.categorys", "$.ordered", "$.aliases.A1", "$.buckets.one: b has no bucket"):
            assert place in message
        assert hint.startswith("did you mean 'categories'?")
        file = tmp_path / "broken.yaml"
        file.write_text("a: [")
        assert "is not YAML" in refusal(lambda: load_scale(str(file)))[0]
        assert "there is no such file" in refusal(lambda: load_scale(str(tmp_path / "no.yaml")), InputError)[0]

    def test_votes_in_memory_outside_the_scale(self):
        message, _ = refusal(lambda: votes_of([("u", "a", "VII", True)], FITZPATRICK))
        assert message == "votes are refused: row 1: 'VII' is not on the scale fitzpatrick"


def test_the_order_of_tasks_and_annotations_changes_nothing(exports, tmp_path):
    tasks = json.loads((exports / "project1_all.json").read_text())
    expected = read(exports / "project1_all.json")
    for each in tasks:
        each["annotations"].reverse()
    votes = read(export(tmp_path, tasks[::-1]))
    assert rows(votes) == rows(expected)
    assert votes.ledger == expected.ledger


def test_frames_of_one_subject_give_one_vote_an_annotator(tmp_path):
    tasks = [task(1, annotation(1, 1, "3")), task(2, annotation(2, 1, "4"), annotation(3, 2, "4"))]
    for each in tasks:
        each["data"]["subject_id"] = "s"
    votes = read(export(tmp_path, tasks))
    assert rows(votes) == [("s", "1", "IV", False), ("s", "2", "IV", False)]
    assert "(the last counts; on several tasks of one unit: 1)" in votes.warnings[0]
