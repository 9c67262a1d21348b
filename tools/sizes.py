"""Hold pages, modules and tests to the sizes that CONTRIBUTING.md names."""

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

from notebook import ROOT, code_cells, notebooks

PAGE, WORDS, MODULE, FUNCTION, OPEN = 1000, 3500, 350, 40, 70
TESTS = 850
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT}
LAYOUT |= {tokenize.DEDENT, tokenize.ENDMARKER}


def main() -> int:
    found = of_tests()
    for page in notebooks():
        found |= of_page(page)
    wrong = [
        f"{what}: {length}, at most {limit}"
        for what, (length, limit) in found.items()
        if length > limit
    ]
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


def of_tests() -> dict[str, tuple[int, int]]:
    """The lengths of all files of tests, with their limit."""
    return {
        f"lines of {file.relative_to(ROOT)}": (
            len(file.read_text(encoding="utf-8").splitlines()),
            TESTS,
        )
        for file in (ROOT / "tests").rglob("*.py")
    }


def of_page(page: Path) -> dict[str, tuple[int, int]]:
    """The lengths of a page and of what it exports, with their limits."""
    marks = re.compile(r"^% (slide|more)\b.*\n", re.M)  # tools/slides.py
    text = marks.sub("", page.read_text(encoding="utf-8"))
    name = str(page.relative_to(ROOT))
    cells = re.compile(r"^(`{3,})\{code-cell\}.*?^\1$", re.M | re.S)
    prose = cells.sub("", text)
    found = {
        f"lines of {name}": (len(text.splitlines()), PAGE),
        f"words of {name}": (len(re.findall(r"\w+", prose)), WORDS),
        f"'chapter N' in {name}": (len(re.findall(r"\bchapter \d", text)), 0),
    }
    total = 0
    for cell in code_cells(page):
        length = code_lines(cell.source)
        if not {"hide-input", "hide-cell"} & set(cell.tags) and length > OPEN:
            found[f"open cell at {name}:{cell.line}"] = length, OPEN
        if "export" not in cell.tags:
            continue
        total += length
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.FunctionDef):
                part = ast.get_source_segment(cell.source, node) or ""
                what = f"lines of {node.name} in {name}"
                found[what] = code_lines(part), FUNCTION
    return found | {f"exported lines of {name}": (total, MODULE)}


def code_lines(source: str) -> int:
    """Lines with code: no blank ones, comments, docstrings and imports."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source + "\n").readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic
        return len(lines)
    for node in ast.walk(tree):
        text = isinstance(node, ast.Expr) and isinstance(
            node.value, ast.Constant
        )
        if isinstance(node, ast.stmt) and (
            text or isinstance(node, ast.Import | ast.ImportFrom)
        ):
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


if __name__ == "__main__":
    sys.exit(main())
