"""Draw the small example of README: 60 subjects, their images, and eight annotators' votes on skin type.

    python examples/draw.py

Nobody in it exists. The generator is protoctl's own, so the files come out the same anywhere.
"""

import csv
from pathlib import Path

from protoctl.digests import SplitMix64

FOLDER = Path(__file__).parent / "faces"
LABELS = ["Anger", "Fear", "Happiness", "Neutral", "Sadness"]
AGES = ["10-19", "20-29", "30-39", "40-49", "50-59"]
TYPES = ["I", "II", "III", "IV", "V", "VI"]


def main():
    random = SplitMix64(2024, "examples/faces")
    items, votes = [], []
    for number in range(1, 61):
        subject = f"P{number:02d}"
        age, gender = AGES[random.below(len(AGES))], ["Female", "Male"][random.below(2)]
        for image in range(1, 7 + random.below(9)):
            items.append([f"{subject}/{image:02d}.jpg", subject, LABELS[random.below(len(LABELS))], age, gender])
        skin = random.below(len(TYPES))
        for annotator in range(1, 9):
            slip = [-1, 0, 0, 0, 0, 0, 0, 1][random.below(8)]
            vote = TYPES[min(max(skin + slip, 0), len(TYPES) - 1)]
            votes.append([subject, f"A{annotator}", vote, "no" if random.below(6) == 0 else "yes"])
    write("items.csv", ["item", "subject", "label", "age", "gender"], items)
    write("votes.csv", ["subject", "annotator", "skin_type", "confident"], votes)


def write(name, header, rows):
    with (FOLDER / name).open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
