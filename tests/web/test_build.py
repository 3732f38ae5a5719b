"""The modules that a browser loads are those that the sources give."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import livetools
from livetools.web import BUILT

WEB = BUILT.parent
PAGE = WEB / "page"
BUILD_FILES = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json", "tsconfig.worklet.json"]


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def test_every_source_has_a_module_and_its_types_and_nothing_else_stands_there() -> None:
    sources = {path.stem for path in (WEB / "src").glob("*.ts")}
    assert set(contents(BUILT)) == {f"{name}{end}" for name in sources for end in (".js", ".d.ts")}
    assert set(contents(PAGE / "dist")) == {f"{path.stem}.js" for path in (PAGE / "src").glob("*.ts")}


def test_the_package_has_the_version_of_the_project() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == livetools.__version__


def test_the_worklet_is_one_file_and_the_same_text_is_inlined() -> None:
    worklet = (BUILT / "worklet.js").read_text(encoding="utf-8")
    assert "import " not in worklet
    inlined = (BUILT / "inlined.js").read_text(encoding="utf-8")
    assert json.loads(inlined.partition("WORKLET =")[2].strip().removesuffix(";")) == worklet


def test_no_module_loads_anything_from_elsewhere() -> None:
    for text in [*contents(BUILT).values(), *contents(PAGE / "dist").values()]:
        assert "http://" not in text
        assert "https://" not in text
        assert "eval(" not in text


def test_the_build_is_fresh(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    shutil.copytree(WEB / "src", tmp_path / "src")
    shutil.copytree(PAGE / "src", tmp_path / "page" / "src")
    shutil.copy(PAGE / "tsconfig.json", tmp_path / "page")
    for name in BUILD_FILES:
        shutil.copy(WEB / name, tmp_path)
    if (WEB / "node_modules" / ".bin" / "tsc").exists():
        (tmp_path / "node_modules").symlink_to(WEB / "node_modules")
    else:
        install = subprocess.run([npm, "ci", "--silent"], cwd=tmp_path, check=False, timeout=100)
        if install.returncode != 0:
            pytest.skip("npm cannot install the compiler")
    subprocess.run([npm, "run", "--silent", "build"], cwd=tmp_path, check=True, timeout=60)
    assert contents(tmp_path / "dist") == contents(BUILT), "stale: run `make web`"
    assert contents(tmp_path / "page" / "dist") == contents(PAGE / "dist"), "stale: run `make web`"
