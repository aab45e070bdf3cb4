"""Count the faces in rendered images with the detector of scikit-image: python count_faces.py RENDERED > faces.csv."""

import csv
import sys
from pathlib import Path

from protoctl.audit.face_detector import count_faces

table = count_faces(Path(sys.argv[1])).table
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow(table.column_names)
writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
