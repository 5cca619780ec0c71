"""Mutation operators of JavaScript, and of what can be read of TypeScript."""

from __future__ import annotations

from repoassay.mutants.edits.javascript_operators import count_errors, javascript_meaning, javascript_replacements

SCRIPT = """
import { a } from "a";
export async function share(part, of = 1, { strict = false } = {}) {
  console.log("dividing", 7);
  if (part < 0 || !(of > 0)) throw new RangeError("no " + 8);
  while (part > 9) { part -= 1; }
  return strict ? null : part / of; // 10
}
"""
TYPED = """
export function f<T>(a: number, b?: string): "x" | "y" | null {
  const x: Map<string, T> = new Map<string, T>();
  if (a < 3 && b !== undefined) { return a + 1 }
  return null
}
"""


def texts(script: str) -> set[tuple[str, str]]:
    """What each replacement has in the place of what; none makes the script worse to read."""
    source = script.encode()
    found = javascript_replacements(source, frozenset(range(1, 100)))
    assert all(count_errors(one.of(source)) == count_errors(source) for one in found)
    return {(source[one.start : one.end].decode(), one.text.decode()) for one in found}


def test_every_operator_is_found_and_texts_for_people_are_left_alone() -> None:
    found = texts(SCRIPT)
    assert {
        ("<", "<="), ("<", ">="), ("||", "&&"), ("!", ""), ("(part > 9)", "(!((part > 9)))"), ("9", "10"), ("/", "*"),
        ("part -= 1;", ";"), ("strict", "true"), ("false", "true"), ('throw new RangeError("no " + 8);', ";"),
        ("strict ? null : part / of", "undefined"),
    } <= found  # fmt: skip
    assert not {"8", "7", '"a"', '"no "', '"dividing"', "10"} & {was for was, _ in found}


def test_types_are_not_taken_for_operators() -> None:
    found = texts(TYPED)
    assert {("<", "<="), ("&&", "||"), ("!==", "==="), ("+", "-"), ("3", "4"), ("a + 1", "undefined")} <= found
    assert not {"|", "string"} & {was for was, _ in found}


def test_comments_and_layout_mean_nothing() -> None:
    plain = SCRIPT.replace("// 10", "").replace("\n  ", "\n")
    assert javascript_meaning(plain.encode()) == javascript_meaning(SCRIPT.encode())
    assert javascript_meaning(plain.replace("9", "8").encode()) != javascript_meaning(SCRIPT.encode())


def test_lines_that_were_there_before_are_left_alone() -> None:
    assert not javascript_replacements(SCRIPT.encode(), frozenset({2}))
