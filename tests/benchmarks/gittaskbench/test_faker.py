"""Cases of the tasks that make up data: users, companies, and a text in place of another."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from benchmarks.gittaskbench.casebook import Casebook, Desk
from repoassay.types import Reading
from shared_data import needs_shared

pytestmark = needs_shared
book = Casebook()
case = book.case


def rows(desk: Desk) -> list[list[str]]:
    return list(csv.reader(io.StringIO(desk.text("gt.csv"))))


@case("Faker_01", "reference", True, True, (True, True))
@case("Faker_02", "reference", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.copy(desk.truth / "gt.csv", "output.csv")


@case("Faker_01", "empty-file", False, False, (False, False))
@case("Faker_02", "empty-file", False, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", "")


@case("Faker_01", "garbage", False, False)
@case("Faker_02", "garbage", False, False)
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.chance.bytes(3000))


@case("Faker_01", "header-only", True, False, (False, False))
@case("Faker_02", "header-only", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.text("gt.csv").splitlines()[0] + "\n")


@case("Faker_01", "other-columns-too", True, True, (True, True))
def _(desk: Desk) -> None:
    head, *users = rows(desk)
    desk.write("output.csv", desk.table([["id", *head[::-1]], *([i, *user[::-1]] for i, user in enumerate(users))]))


@case("Faker_01", "all-the-same", True, False, (True, True))
def _(desk: Desk) -> None:
    head, user, *_ = rows(desk)
    desk.write("output.csv", desk.table([head, *[user] * 100]))


@case("Faker_01", "half-repeated", True, False, (True, True))
def _(desk: Desk) -> None:
    head, *users = rows(desk)
    desk.write("output.csv", desk.table([head, *users[:50], *users[:50]]))


@case("Faker_01", "a-hundred-and-one", True, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([*rows(desk), ["somebody", "some@body.org"]]))


@case("Faker_01", "one-blank-name", True, False, (False, False))
def _(desk: Desk) -> None:
    head, user, *users = rows(desk)
    desk.write("output.csv", desk.table([head, ["", user[1]], *users]))


@case("Faker_01", "one-bad-among-more", True, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([*rows(desk), ["somebody", "nowhere"]]))


@case("Faker_01", "one-bad-among-a-hundred-and-two", True, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([*rows(desk), ["somebody", "nowhere"], ["another", "another@body.org"]]))


@case("Faker_01", "wrong-columns", True, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([["Login", "Contact"], *rows(desk)[1:]]))


@case("Faker_01", "unusual-names", True, True)
def _(desk: Desk) -> None:
    users = [(f"用户{i}", f"first.last+{i}@mail.example.co.uk") for i in range(100)]
    desk.write("output.csv", desk.table([("Username", "Email"), *users]))


@case("Faker_02", "crlf-bom", True, True)
def _(desk: Desk) -> None:
    desk.write("output.csv", b"\xef\xbb\xbf" + desk.text("gt.csv").replace("\n", "\r\n").encode())


@case("Faker_02", "chinese", True, True, (True, True))
def _(desk: Desk) -> None:
    made = [
        (f"甲乙{sign}科技有限公司", f"上海市浦东新区世纪大道{i}号{sign}座", f"1380013800{i}")
        for i, sign in enumerate("天地玄黄宇")
    ]
    desk.write("output.csv", desk.table([("Company Name", "Address", "Phone"), *made]))


@case("Faker_02", "international", True, True, (True, True))
def _(desk: Desk) -> None:
    head, *made = rows(desk)
    desk.write("output.csv", desk.table([head, *([*row[:2], f"+49 (0)30 / 555-0{i}"] for i, row in enumerate(made))]))


@case("Faker_02", "five-the-same", True, False, (True, True))
def _(desk: Desk) -> None:
    head, row, *_ = rows(desk)
    desk.write("output.csv", desk.table([head, *[row] * 5]))


@case("Faker_02", "one-letter", True, False)
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table([rows(desk)[0], *[["a", "aaaaa", "1"]] * 5]))


@case("Faker_02", "four", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", desk.table(rows(desk)[:5]))


@case("Faker_02", "unquoted-commas", True, False, (False, False))
def _(desk: Desk) -> None:
    desk.write("output.csv", "\n".join(",".join(row) for row in rows(desk)))


@case("Faker_02", "words-for-phones", True, False, (True, False))
def _(desk: Desk) -> None:
    head, *made = rows(desk)
    desk.write("output.csv", desk.table([head, *([*row[:2], "call us"] for row in made)]))


FILLER = """Vel quos aperiam mollitia tenetur eaque. Ipsa harum ratione nobis placeat fugit odio. Similique velit beatae
dolorem quasi nesciunt. Cumque impedit voluptas earum sequi minus autem rem. Porro distinctio laborum facilis hic unde
iste natus error accusantium doloremque laudantium totam aperiam quae ab illo inventore veritatis architecto. Nemo enim
ipsam voluptatem aspernatur aut odit fugit consequuntur magni dolores eos ratione sequi nesciunt. Neque porro quisquam
est qui dolorem ipsum quia dolor amet consectetur adipisci velit numquam eius modi tempora incidunt labore magnam."""


def given(desk: Desk) -> str:
    return (desk.inputs / "Faker_03_input.txt").read_text(encoding="utf-8")


@case("Faker_03", "filler", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", FILLER)


@case("Faker_03", "crlf-bom", True, True, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", b"\xef\xbb\xbf" + (FILLER * 3).replace("\n", "\r\n").encode())


@case("Faker_03", "filler-added", True, False, (True, True))
def _(desk: Desk) -> None:
    extra = " ".join("".join(desk.chance.choice(list("bcdfghklmnaeiou"), 7)) for _ in range(900))
    desk.write("output.txt", given(desk) + extra)


@case("Faker_03", "half-replaced", True, False)
def _(desk: Desk) -> None:
    lines = given(desk).splitlines()
    desk.write("output.txt", "\n".join(lines[: len(lines) // 2]) + "\n" + FILLER)


@case("Faker_03", "shuffled", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", " ".join(desk.chance.permutation(given(desk).split())))


@case("Faker_03", "spaced-out", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", " ".join(given(desk)))


@case("Faker_03", "backwards", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", given(desk)[::-1])


@case("Faker_03", "upper-case", True, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", given(desk).upper())


@case("Faker_03", "one-word", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", "lorem " * 300)


@case("Faker_03", "a-sentence", True, False, (True, True))
def _(desk: Desk) -> None:
    desk.write("output.txt", "Vel quos aperiam mollitia tenetur eaque.")


@case("Faker_03", "empty-file", False, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", "")


@case("Faker_03", "missing", False, False, (True, False))
def _(desk: Desk) -> None:
    """Leave nothing."""


@case("Faker_03", "garbage", False, False, (True, False))
def _(desk: Desk) -> None:
    desk.write("output.txt", desk.chance.bytes(3000))


@pytest.mark.parametrize("task", book.tasks)
@pytest.mark.parametrize("reading", list(Reading), ids=str)
def test_verdicts(task: str, reading: Reading, tmp_path: Path) -> None:
    assert book.complaints(task, tmp_path, reading) == []
