import io

import pytest

from sqlparse import cli


@pytest.fixture
def files(tmp_path):
    good, bad = tmp_path / "good.sql", tmp_path / "bad.sql"
    good.write_text("SELECT a FROM t")
    bad.write_text("select a from t")
    return good, bad


def test_formatted_file(files, capsys):
    good, _ = files
    assert cli.main(["--check", "-k", "upper", str(good)]) == 0
    assert capsys.readouterr() == ("", "")


def test_unformatted_file(files, capsys):
    _, bad = files
    assert cli.main(["--check", "-k", "upper", str(bad)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert str(bad) in said.err
    assert bad.read_text() == "select a from t"


def test_several_files(files, capsys):
    good, bad = files
    assert cli.main(["--check", "-k", "upper", str(good), str(bad), str(good)]) == 1
    said = capsys.readouterr().err
    assert str(bad) in said
    assert str(good) not in said


@pytest.mark.parametrize("option", [["--in-place"], ["-o", "unused.sql"]])
def test_not_with_writing(files, option, capsys):
    _, bad = files
    assert cli.main(["--check", "-k", "upper", *option, str(bad)]) == 1
    assert "[ERROR]" in capsys.readouterr().err
    assert bad.read_text() == "select a from t"


def test_missing_file(tmp_path, capsys):
    assert cli.main(["--check", str(tmp_path / "absent.sql")]) == 1
    assert "[ERROR]" in capsys.readouterr().err


def test_without_check_as_before(files, capsys):
    good, bad = files
    assert cli.main(["-k", "upper", str(bad)]) == 0
    assert capsys.readouterr().out == "SELECT a FROM t"
    assert cli.main([str(good), str(bad)]) == 1
    assert cli.main(["-k", "upper", "--in-place", str(good), str(bad)]) == 0
    assert bad.read_text() == "SELECT a FROM t"


def test_standard_input(monkeypatch, capsys):
    for text, code in (("SELECT a", 0), ("select a", 1)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert cli.main(["--check", "-k", "upper", "-"]) == code
        assert capsys.readouterr().out == ""


def test_the_last_file_does_not_decide(files, capsys):
    good, bad = files
    code = cli.main(["--check", "-k", "upper", str(bad), str(good)])
    said = capsys.readouterr().err
    assert code == 1
    assert said.split() == [str(bad)]


def test_other_encodings(tmp_path, capsys):
    file = tmp_path / "latin.sql"
    file.write_bytes("SELECT 'é'".encode("latin-1"))
    assert cli.main(["--check", "-k", "upper", "--encoding", "latin-1", str(file)]) == 0
    assert capsys.readouterr().err == ""


def changed(place, capsys, *options):
    """The files of a folder that a check names."""
    names = sorted(file.name for file in place.iterdir())
    code = cli.main(["--check", *options, *(str(place / name) for name in names)])
    said = capsys.readouterr().err
    return [code, *(name for name in names if name in said)]


def test_every_option_by_itself(tmp_path, capsys):
    texts = [
        "SELECT a FROM t", "select a from t", "SELECT a from t", "SELECT A FROM T", "select A from T", "SELECT 1",
        "select 1", "SELECT 'from'", "UPDATE t SET b = 2", "delete from t", "DELETE FROM T where B",
    ]  # fmt: skip
    for number, text in enumerate(texts):
        (tmp_path / f"{chr(97 + number)}{number**2}.sql").write_text(text)
    assert changed(tmp_path, capsys, "-k", "upper") == [
        1, "b1.sql", "c4.sql", "e16.sql", "g36.sql", "j81.sql", "k100.sql",
    ]  # fmt: skip
    assert changed(tmp_path, capsys, "-k", "lower") == [
        1, "a0.sql", "c4.sql", "d9.sql", "f25.sql", "h49.sql", "i64.sql", "k100.sql",
    ]  # fmt: skip
    assert changed(tmp_path, capsys, "-i", "upper") == [1, "a0.sql", "b1.sql", "c4.sql", "i64.sql", "j81.sql"]
    assert changed(tmp_path, capsys, "-i", "lower") == [1, "d9.sql", "e16.sql", "k100.sql"]
