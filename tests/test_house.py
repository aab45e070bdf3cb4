"""How the package is laid out: who imports whom, what the wheel holds, and that every example in it is true."""

import ast
import doctest
import importlib
import os
import pkgutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import protoctl

PACKAGE = Path(protoctl.__file__).parent
ROOMS = ("annotate", "audit", "catalog", "cli", "manifests", "partition", "protocols")
LEVELS = [
    {"errors"},
    {"digests", "scales", "tabular"},
    {"annotate", "catalog", "protocols"},
    {"partition"},
    {"manifests", "audit"},
    {"cli"},
]


def modules():
    names = [f"protoctl.{name}" for name in ("errors", "digests", "scales", "tabular")]
    for room in ROOMS:
        package = importlib.import_module(f"protoctl.{room}")
        names.append(package.__name__)
        names += [found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return names


def level(part):
    return next(place for place, parts in enumerate(LEVELS) if part in parts)


def imported_parts(path, depth):
    """Parts of the package (rooms and root modules) that a file imports, by relative imports of any form."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from (name.split(".")[0] for name in names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from ("protoctl" for name in names if name.split(".")[0] == "protoctl")


def wrong_imports(path, depth, own):
    """Imports of `path` that look up, sideways, or reach the package by its absolute name."""
    known = set().union(*LEVELS)
    for part in imported_parts(path, depth):
        if part == "protoctl":
            yield f"{path.name} imports protoctl by its absolute name"
        elif part in known and level(part) >= level(own):
            yield f"{own}: {path.name} imports {part}"


def test_imports_go_downward_only():
    wrong = []
    for room in ROOMS:
        for path in sorted((PACKAGE / room).glob("*.py")):
            wrong += wrong_imports(path, 2, room)
    for name in ("errors", "digests", "scales", "tabular"):
        wrong += wrong_imports(PACKAGE / f"{name}.py", 1, name)
    assert wrong == []


def test_the_root_has_no_import_statement():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    assert [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)] == []


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_hold(name):
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} does not say what it is for"
    failed, tried = doctest.testmod(module)
    assert failed == 0, f"{failed} of {tried} examples of {name} fail"


def test_public_names_resolve():
    for name in protoctl.__all__:
        assert getattr(protoctl, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'splt'"):
        _ = protoctl.splt


def test_heavy_packages_wait_until_they_are_needed():
    """What `protoctl --help` imports: click, and nothing that takes longer than click itself."""
    code = (
        "import sys\nfrom protoctl.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'pandas', 'pyarrow', 'scipy', 'sklearn', 'rich', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_wheel_holds_the_package_and_nothing_else():
    wheel = os.environ.get("PROTOCTL_WHEEL")
    if not wheel:
        pytest.skip("PROTOCTL_WHEEL names no wheel; .ci/run builds one and sets it")
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    roots = {name for name in names if name.count("/") == 1}
    assert roots == {
        f"protoctl/{name}"
        for name in (
            "__init__.py",
            "__main__.py",
            "digests.py",
            "errors.py",
            "py.typed",
            "scales.py",
            "tabular.py",
        )
    }
    assert {name.split("/")[1] for name in names} - {root.split("/")[1] for root in roots} == set(ROOMS)
    assert "protoctl/protocols/fair-55-15-30.yaml" in names
    assert "protoctl/catalog/cards/affectnet.yaml" in names


def test_every_verb_has_a_help_text_with_an_example(protoctl):
    from protoctl.cli import VERBS

    for verb in VERBS:
        run = protoctl(verb, "--help")
        assert run.code == 0
        assert "\\b" not in run.out, verb
        assert f"  protoctl {verb}" in run.out or verb == "annotate", verb
