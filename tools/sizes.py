"""Hold pages, modules and tests to the sizes that CONTRIBUTING.md names."""

import ast
import io
import re
import sys
import tokenize

from tangle import ROOT, notebooks

PAGE, WORDS, MODULE, FUNCTION, TESTS = 800, 3500, 350, 40, 850
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT}
LAYOUT |= {tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """Lines with code: no blanks, comments, docstrings, imports, `__all__`."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        names = isinstance(node, ast.Assign) and "__all__" in ast.unparse(node)
        if (
            isinstance(node, ast.Import | ast.ImportFrom)
            or (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
            )
            or names
        ):
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return lines


found = []
for page in notebooks():
    text = page.read_text("utf-8")
    prose = re.sub(
        r"^(`{3,})\{code-cell\}.*?^\1$", "", text, flags=re.M | re.S
    )
    found.append((len(text.splitlines()), PAGE, f"lines of {page}"))
    found.append((len(re.findall(r"\w+", prose)), WORDS, f"words of {page}"))
for file in (ROOT / "accountlib").rglob("*.py"):
    text = file.read_text("utf-8")
    tree = ast.parse(text)
    lines = code_lines(text, tree)
    found.append((len(lines), MODULE, f"code lines of {file}"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            span = set(range(node.lineno, (node.end_lineno or 0) + 1))
            name = f"code lines of {node.name} in {file}"
            found.append((len(lines & span), FUNCTION, name))
for file in (ROOT / "tests").rglob("*.py"):
    length = len(file.read_text("utf-8").splitlines())
    found.append((length, TESTS, f"lines of {file}"))
wrong = [f"{what}: {n}, at most {most}" for n, most, what in found if n > most]
print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
sys.exit(1 if wrong else 0)
