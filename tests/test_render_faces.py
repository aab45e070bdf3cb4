"""Face counts: tables, services' answers, and the whole way from pictures to odds ratios with a local detector."""

import csv
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoctl.audit.face_counts import FACE_COLUMNS, count_answer, read_face_counts
from protoctl.errors import InputError
from protoctl.protocols import CORRUPTIONS

REKOGNITION = {"FaceDetails": [{"BoundingBox": {}, "Confidence": 99.9}], "ResponseMetadata": {"HTTPStatusCode": 200}}
AZURE = [{"faceId": "1", "faceRectangle": {"top": 1}}, {"faceId": "2", "faceRectangle": {"top": 9}}]
GOOGLE = {"responses": [{"faceAnnotations": [{"detectionConfidence": 0.9}] * 3}]}


def table_of(path, **options):
    return list(zip(*(column.to_pylist() for column in read_face_counts(path, **options).table.columns), strict=True))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 5))
def test_every_service_s_faces_are_counted(number):
    faces = [{}] * number
    assert count_answer({"FaceDetails": faces}) == (number, "rekognition")
    assert count_answer(faces) == (number, "azure")
    assert count_answer({"faceAnnotations": faces}) == (number, "google")
    assert count_answer({"responses": [{"faceAnnotations": faces} if faces else {}]}) == (number, "google")


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        ({"error": {"code": "429"}}, "is an error of the service", "an error is not a picture without faces"),
        ({"responses": [{"error": {"code": 7}}]}, "is an error of the service", "ask the service again"),
        ({}, "is no answer of a known shape ({})", "FaceDetails"),
        ({"Labels": []}, "is no answer of a known shape", "Rekognition"),
        ({"FaceDetails": None}, "FaceDetails is no list (null)", "FaceDetails"),
        ({"responses": [{}, {}]}, "holds 2 responses, and one picture has one", "one answer a file"),
        (7, "is no answer of a known shape (7)", "faceAnnotations"),
    ],
)
def test_what_is_no_answer_is_refused(answer, message, hint):
    with pytest.raises(InputError) as caught:
        count_answer(answer)
    assert message in caught.value.message
    assert hint in str(caught.value.hint)


def test_an_empty_answer_of_google_is_a_picture_without_faces():
    assert count_answer({}, "GCP") == (0, "google")


def put(folder, name, document):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(document if isinstance(document, str) else json.dumps(document))


def test_the_paper_s_wrapper_says_itself_what_it_is_of(tmp_path):
    put(
        tmp_path,
        "1.json",
        {"original photo": "a.jpg", "corruption": None, "severity": None, "service": "aws", "response": REKOGNITION},
    )
    put(
        tmp_path,
        "2.json",
        {
            "original_photo": "a.jpg",
            "corruption": "gaussian_noise",
            "severity": 3,
            "service": "aws",
            "response": json.dumps(AZURE),
        },
    )
    put(tmp_path, "x/3.json", {"Original Photo": "a.jpg", "corruption": "Fog", "severity": "1", "response": GOOGLE})
    put(
        tmp_path,
        "x/4.json",
        {"original photo": "a.jpg", "corruption": "snow", "severity": 1, "service": "gcp", "response": {}},
    )
    assert table_of(tmp_path) == [
        ("a.jpg", "clean", "", "aws", "1"),
        ("a.jpg", "fog", "1", "google", "3"),
        ("a.jpg", "gaussian-noise", "3", "aws", "2"),
        ("a.jpg", "snow", "1", "gcp", "0"),
    ]


def test_bare_answers_are_of_the_rendered_file_they_are_named_for(tmp_path):
    rendered, answers = tmp_path / "to", tmp_path / "answers"
    put(
        rendered,
        "rendered.csv",
        "path,item,variant,corruption,severity,digest,bytes\nclean/a.jpg,a.jpg,clean,,,d,1\nfog-3/a.jpg.png,a.jpg,fog-3,fog,3,d,1\n",
    )
    put(answers, "clean/a.jpg.json", REKOGNITION)
    put(answers, "face-api/clean/a.jpg.json", AZURE)
    put(answers, "face-api/fog-3/a.jpg.png.json", [])
    assert table_of(answers, rendered=rendered) == [
        ("a.jpg", "clean", "", "face-api", "2"),
        ("a.jpg", "clean", "", "rekognition", "1"),
        ("a.jpg", "fog", "3", "face-api", "0"),
    ]
    with pytest.raises(InputError) as caught:
        read_face_counts(answers)
    assert "3 problems" in caught.value.message
    assert "face-api/fog-3/a.jpg.png.json: does not say which image it is of" in caught.value.message
    assert "name the folder that was rendered to" in str(caught.value.hint)


def test_every_bad_answer_is_named(tmp_path):
    good = {"original photo": "a.jpg", "corruption": "fog", "severity": 1, "service": "aws", "response": REKOGNITION}
    put(tmp_path, "1.json", good)
    put(tmp_path, "2.json", good)
    put(tmp_path, "3.json", {**good, "corruption": "fgo"})
    put(tmp_path, "4.json", {**good, "severity": 6})
    put(tmp_path, "5.json", "{")
    put(tmp_path, "6.json", {**good, "original photo": None})
    with pytest.raises(InputError) as caught:
        read_face_counts(tmp_path)
    for part in (
        "2.json: answers for a.jpg fog 1 aws again (first: 1.json)",
        "3.json: there is no corruption 'fgo'",
        "4.json: severity '6' is none",
        "5.json:1: is not JSON",
        "6.json: does not say which image it is of",
    ):
        assert part in caught.value.message
    assert "did you mean 'fog'" in str(caught.value.hint)
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError) as caught:
        read_face_counts(tmp_path / "none")
    assert "holds no answers (*.json)" in caught.value.message


def test_a_table_in_the_issue_s_words(tmp_path):
    (tmp_path / "faces.csv").write_text(
        "image,corruption,severity,service,faces\nb.jpg,none,0,aws,2\nb.jpg,Glass_Blur,5,aws,1\n./a.jpg,clean,,azure,0\n"
    )
    assert tuple(read_face_counts(tmp_path / "faces.csv").table.column_names) == FACE_COLUMNS
    assert table_of(tmp_path / "faces.csv") == [
        ("a.jpg", "clean", "", "azure", "0"),
        ("b.jpg", "clean", "", "aws", "2"),
        ("b.jpg", "glass-blur", "5", "aws", "1"),
    ]
    (tmp_path / "bad.csv").write_text(
        "image,corruption,severity,service,faces\nb.jpg,fog,9,aws,2\nb.jpg,fog,1,aws,two\n"
    )
    with pytest.raises(InputError) as caught:
        read_face_counts(tmp_path / "bad.csv")
    assert "bad.csv:2: severity '9' is none" in caught.value.message
    assert "bad.csv:3, column faces: 'two' is no number of faces" in caught.value.message
    (tmp_path / "short.csv").write_text("image,corruption,severity\nb.jpg,fog,9\n")
    with pytest.raises(InputError) as caught:
        read_face_counts(tmp_path / "short.csv")
    assert "there is no column 'faces'" in caught.value.message
    assert "a table of faces has image, corruption, severity, service and faces" in str(caught.value.hint)


def test_the_detector_finds_the_astronaut(tmp_path):
    pytest.importorskip("skimage", reason="needs the extra render (scikit-image)")
    from PIL import Image
    from skimage import data

    from protoctl.audit.face_detector import faces_in

    Image.fromarray(data.astronaut()).save(tmp_path / "astronaut.png")
    assert faces_in(tmp_path / "astronaut.png") == 1
    Image.new("RGB", (200, 200), "grey").save(tmp_path / "grey.png")
    assert faces_in(tmp_path / "grey.png") == 0


def test_from_pictures_to_odds_ratios(tmp_path, protoctl):
    pytest.importorskip("imagecorruptions", reason="needs the extra render (imagecorruptions-imaug)")
    from PIL import Image, ImageEnhance
    from skimage import data

    from protoctl.audit.face_detector import count_faces

    face = Image.fromarray(data.astronaut()).crop((130, 0, 330, 200))
    (tmp_path / "images").mkdir()
    lines = ["item,age,gender"]
    for at, (size, light) in enumerate((size, light) for size in (112, 128) for light in (0.5, 1.0, 1.9)):
        picture = ImageEnhance.Brightness(face.resize((size, size))).enhance(light)
        picture.save(tmp_path / "images" / f"{at}.png")
        lines.append(f"{at}.png,{(30, 50)[at % 2]},{('Female', 'Male')[at // 2 % 2]}")
    (tmp_path / "items.csv").write_text("\n".join(lines) + "\n")
    manifest, rendered, counts = tmp_path / "m", tmp_path / "to", tmp_path / "faces.csv"
    assert protoctl("split", tmp_path / "items.csv", "--protocol", "robustness-1500", "--out", manifest).code == 0
    assert protoctl("render", manifest, "--root", tmp_path / "images", "--to", rendered, "--jobs", 1).code == 0
    table = count_faces(rendered).table
    assert table.num_rows == 6 * 76
    with counts.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    run = protoctl("score", manifest, counts, "--dataset", tmp_path / "items.csv", "--replicates", 20, "--json")
    assert run.code == 0, run.err
    assert '"mrce"' in run.out
    terms = [ratio["term"] for ratio in run.json["odds_ratios"]]
    assert terms[:2] == ["age=45-64", "gender=Male"]
    assert len(terms) == 16


def test_the_command_scores_a_folder_of_answers(tmp_path, protoctl):
    (tmp_path / "items.csv").write_text("item,age,gender\na.png,30,Female\nb.png,50,Male\n")
    (tmp_path / "r.yaml").write_text(
        "name: r\nversion: 1.0.0\nsubset: {name: capped, per: [gender], at_most: 9}\nscore: {corruption: [mrce]}\n"
    )
    answers = tmp_path / "answers"
    for item in ("a.png", "b.png"):
        put(answers, f"{item}-clean.json", {"original photo": item, "service": "aws", "response": REKOGNITION})
        for corruption in CORRUPTIONS:
            for severity in range(1, 6):
                found = [] if (item, corruption) == ("a.png", "fog") else REKOGNITION
                wrapper = {"original photo": item, "corruption": corruption, "severity": severity, "service": "aws"}
                put(answers, f"{item}-{corruption}-{severity}.json", {**wrapper, "response": found})
    assert (
        protoctl("split", tmp_path / "items.csv", "--protocol", tmp_path / "r.yaml", "--out", tmp_path / "m").code == 0
    )
    arguments = ("--dataset", tmp_path / "items.csv", "--by", "gender", "--replicates", 20, "--json")
    run = protoctl("score", tmp_path / "m", answers, *arguments)
    assert run.code == 0, run.err
    overall = [row for row in run.json["scores"] if row["score"] == "mrce" and not row["subgroup"]]
    assert [round(row["value"], 6) for row in overall] == [round(5 / 150, 6)]
