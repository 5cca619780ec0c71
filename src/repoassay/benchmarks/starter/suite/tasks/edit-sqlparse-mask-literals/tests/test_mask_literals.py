import pytest
import sqlparse
from sqlparse import cli
from sqlparse.exceptions import SQLParseError


def mask(sql, **options):
    return sqlparse.format(sql, mask_literals=True, **options)


def test_strings():
    assert mask("SELECT * FROM t WHERE a = 'x' AND b = 'it''s'") == "SELECT * FROM t WHERE a = ? AND b = ?"
    assert mask("INSERT INTO t VALUES ('', 'two words', 'a;b')") == "INSERT INTO t VALUES (?, ?, ?)"


def test_numbers_of_every_kind():
    assert mask("SELECT 1, 2.5, .5, 1e10, 3.2E-4, 0x1F") == "SELECT ?, ?, ?, ?, ?, ?"
    assert mask("SELECT a FROM t1 LIMIT 10 OFFSET 20") == "SELECT a FROM t1 LIMIT ? OFFSET ?"


def test_minus_sign_is_kept():
    assert mask("SELECT -1, b > -1.5") == "SELECT -?, b > -?"
    assert mask("SELECT a-1, a - 2, (-3)") == "SELECT a-?, a - ?, (-?)"


def test_dollar_quoted_strings():
    assert mask("SELECT $$it's 1$$, 2") == "SELECT ?, ?"
    assert mask("SELECT $tag$ one 'two' $tag$ AS x") == "SELECT ? AS x"


def test_names_stay_while_literals_go():
    sql = 'SELECT "col 1", `c2`, [br 3], t4.c5 FROM t6 WHERE c7 = 8'
    assert mask(sql) == 'SELECT "col 1", `c2`, [br 3], t4.c5 FROM t6 WHERE c7 = ?'


def test_placeholders_and_keywords_stay_while_literals_go():
    sql = "SELECT NULL, TRUE, ?, :name, %s, $1, 5"
    assert mask(sql) == "SELECT NULL, TRUE, ?, :name, %s, $1, ?"


def test_comments_stay_while_literals_go():
    sql = "SELECT 1 -- not 'this' 2\n, /* nor 3 */ 'x'"
    assert mask(sql) == "SELECT ? -- not 'this' 2\n, /* nor 3 */ ?"


def test_every_statement_is_masked():
    masked = mask("SELECT 1; UPDATE t SET a = 'b'; DELETE FROM t WHERE id = 9")
    assert sqlparse.split(masked) == ["SELECT ?;", "UPDATE t SET a = ?;", "DELETE FROM t WHERE id = ?"]


def test_same_shape_gives_same_text():
    masked = {mask(f"select * from t where id in ({n}, {n * 7}) and name = '{n}'") for n in (1, 20, 345)}
    assert masked == {"select * from t where id in (?, ?) and name = ?"}


def test_together_with_other_options():
    masked = mask("select a from t where b = 'x' and c = 12", keyword_case="upper", reindent=True)
    assert masked == "SELECT a\nFROM t\nWHERE b = ?\n  AND c = ?"
    assert mask("select 'a long string'", truncate_strings=3) == "select ?"
    assert mask("select 1 -- gone 2\n", strip_comments=True).strip() == "select ?"


def test_other_values_are_refused():
    for value in ("yes", 2, None, "?"):
        with pytest.raises(SQLParseError) as caught:
            sqlparse.format("select 1", mask_literals=value)
        assert isinstance(caught.value, SQLParseError)


def test_command_line(tmp_path, capsys):
    path = tmp_path / "query.sql"
    path.write_text("select * from t where a = 'x' and b = 3")
    assert cli.main([str(path), "--mask-literals", "-k", "upper"]) == 0
    assert capsys.readouterr().out == "SELECT * FROM t WHERE a = ? AND b = ?"


def test_command_line_help(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["--help"])
    assert caught.value.code == 0
    assert "--mask-literals" in capsys.readouterr().out


def test_off_by_default():
    sql = "SELECT 'x', -1.5, $$y$$ FROM t"
    assert sqlparse.format(sql) == sql
    assert sqlparse.format(sql, mask_literals=False) == sql


def test_truncating_still_works():
    assert sqlparse.format("select 'abcdef', 'ab'", truncate_strings=3) == "select 'abc[...]', 'ab'"


def test_command_line_default_is_unchanged(tmp_path, capsys):
    path = tmp_path / "query.sql"
    path.write_text("select * from t where a = 'x' -- why\n")
    assert cli.main([str(path), "--strip-comments"]) == 0
    assert capsys.readouterr().out.strip() == "select * from t where a = 'x'"
