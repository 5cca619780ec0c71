"""Tables as LaTeX, in the manner of booktabs."""

from __future__ import annotations

from repoassay.report.cells import shown_rows
from repoassay.report.tables.value import Table
from repoassay.text import one_line

__all__ = ["latex"]

_MOST_COLUMNS = 7
"""A table of more is shrunk to the width of the line."""
_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "“": "``", "”": "''", "\u2013": "--", "…": r"\ldots{}",
    "[": "{[}", "]": "{]}",
}  # fmt: skip


def latex(table: Table) -> str:
    r"""One `table` environment; needs `\usepackage{booktabs}` and, for other scripts, XeLaTeX or LuaLaTeX."""
    form = "".join("r" if column.unit.numeric else "l" for column in table.columns)
    after = f", after {table.after}" if table.after else ""
    wide = len(table.columns) > _MOST_COLUMNS
    lines = [
        "% needs \\usepackage{booktabs}" + (" and \\usepackage{graphicx}" if wide else ""),
        "\\begin{table}",
        f"\\caption{{{_escaped(table.title + after)}}}",
        f"\\label{{tab:{table.name.replace('_', '-')}}}",
        *(["\\resizebox{\\linewidth}{!}{%"] if wide else []),
        f"\\begin{{tabular}}{{{form}}}",
        "\\toprule",
        _line([_escaped(column.title) for column in table.columns]),
        "\\midrule",
    ]
    lines += [_line([_escaped(cell) for cell in row]) for row in shown_rows(table)]
    lines += ["\\bottomrule", "\\end{tabular}" + ("}" if wide else "")]
    if table.notes:
        lines.append(f"\\par\\smallskip\\footnotesize {' '.join(_escaped(note) for note in table.notes)}")
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in one_line(text, 2000))
