import pytest

from tools.door.options import Options, parse
from tools.door.words import Stop


@pytest.fixture(autouse=True)
def _no_extras_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FUSION_STUDIO_EXTRAS", raising=False)


@pytest.mark.parametrize(
    ("arguments", "options", "rest"),
    [
        ([], Options(), []),
        (["fuse", "--extras", "gpu"], Options(), ["fuse", "--extras", "gpu"]),
        (["--port", "1", "--reinstall"], Options(), ["--port", "1", "--reinstall"]),
        (["--browser"], Options(), ["--browser"]),  # the studio's own: open the browser
        (["--help"], Options(help=True), []),
        (["fuse", "--help"], Options(), ["fuse", "--help"]),
        (["--extras", "gpu, mcp", "doctor"], Options(extras=["gpu", "mcp"]), ["doctor"]),
        (["--extras=none"], Options(extras=[]), []),
        (["--extras", "auto,insightface"], Options(extras=["auto", "insightface"]), []),
        (["--no-venv", "--reinstall", "version"], Options(no_venv=True, reinstall=True), ["version"]),
        (["--opencv=opencv-contrib-python", "x"], Options(opencv="opencv-contrib-python"), ["x"]),
        (["test"], Options(test=True), []),
        (["test", "-h"], Options(test=True), ["-h"]),
        (["test", "--browser", "required", "-k", "door"], Options(test=True, browser="required"), ["-k", "door"]),
        (["--extras", "mcp", "test", "--browser=required", "test"], Options(["mcp"], browser="required", test=True), ["test"]),
    ],
)
def test_ours_is_taken_and_the_rest_passed_on(arguments: list[str], options: Options, rest: list[str]) -> None:
    assert parse(arguments) == (options, rest)


@pytest.mark.parametrize("arguments", [["--extras"], ["--extras="], ["--opencv", "numpy"], ["--opencv"], ["test", "--browser", "maybe"]])
def test_an_option_without_a_value_that_fits_is_refused(arguments: list[str]) -> None:
    with pytest.raises(Stop) as stop:
        parse(arguments)
    assert stop.value.key == "option_value"


def test_the_environment_stands_in_for_extras_that_arent_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSION_STUDIO_EXTRAS", "auto,mcp")
    assert parse(["test"]) == (Options(["auto", "mcp"], test=True), [])
    assert parse(["--extras=none", "test"]) == (Options([], test=True), [])
    monkeypatch.setenv("FUSION_STUDIO_EXTRAS", "")
    assert parse(["test"]) == (Options(test=True), [])
