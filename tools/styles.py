"""The theme's style, without what no page and no script of the book uses."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import tinycss2  # type: ignore[import-untyped]  # it ships no types

NAME = "pydata-sphinx-theme"
THEME = Path("_static", "styles", f"{NAME}.css")
SOURCE = Path("pydata_sphinx_theme", "theme", "pydata_sphinx_theme")
SOURCE = SOURCE / "static" / "styles" / THEME.name
CLASSES = re.compile(r'\bclass="([^"]*)"')


def setup(app: Any) -> None:
    app.connect("build-finished", trim)


def trim(app: Any, error: Exception | None) -> None:
    """Write the trimmed style where the theme has put its own."""
    if error or app.builder.format != "html":
        return
    source = Path(str(distribution(NAME).locate_file(SOURCE)))
    whole = source.read_text("utf-8")
    style = kept(whole, used_names(Path(app.outdir)))
    (Path(app.outdir) / THEME).write_text(style, "utf-8")


def used_names(folder: Path) -> set[str]:
    """The classes of the pages, and all words of scripts."""
    found: set[str] = set()
    for page in folder.rglob("*.html"):
        for names in set(CLASSES.findall(page.read_text("utf-8"))):
            found.update(names.split())
    for script in (folder / "_static").rglob("*.js"):
        if script.name == "fontawesome.js":  # no page loads it
            continue
        found.update(re.findall(r"[\w-]+", script.read_text("utf-8")))
    return found


def kept(style: str, used: set[str]) -> str:
    """The rules of a style sheet that can apply."""
    rules = tinycss2.parse_stylesheet(style, True, True)
    return "\n".join(needed_rules(rules, used)) + "\n"


def needed_rules(rules: Iterable[Any], used: set[str]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "qualified-rule":
            possible = ",".join(possible_selectors(rule.prelude, used))
            if possible:
                yield f"{possible}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword == "media":
            inner = tinycss2.parse_rule_list(rule.content, True, True)
            text = "".join(needed_rules(inner, used))
            if text:
                condition = tinycss2.serialize(rule.prelude)
                yield f"@media{condition}{{{text}}}"
        elif rule.type == "at-rule" and "Awesome" not in rule.serialize():
            yield rule.serialize()


def possible_selectors(prelude: list[Any], used: set[str]) -> Iterator[str]:
    """The selectors whose classes are all used; what functions such as
    `:not` have inside is not looked at."""
    selectors: list[list[Any]] = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    for tokens in selectors:
        classes = {
            name.value
            for dot, name in zip(tokens, tokens[1:], strict=False)
            if dot == "." and name.type == "ident"
        }
        if classes <= used:
            yield tinycss2.serialize(tokens).strip()
