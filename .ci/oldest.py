"""Print pip constraints that pin every dependency of a pyproject.toml to its lower bound."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(sys.argv[1]).read_text())["project"]
for requirement in project["dependencies"]:
    name, bound = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9.]+)", requirement).groups()
    print(f"{name}=={bound}" + (".*" if bound.count(".") == 1 else ""))
