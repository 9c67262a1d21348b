# make book    the pages, in build/html; only what has changed runs again
# make test    every check; builds the book first where it is missing or stale
# make tangle  writes accountlib anew from the notebooks
# make lint    style, types and sizes only
# make live    serves the book, and builds a page again when its text is saved
# make lab     opens the notebooks in JupyterLab
# make slides  two lectures as slides, in build/slides: tools/slides.py
# make pdf     the book as one file, build/book.pdf: tools/pdf.py
# make search  looks for runs where add is worse than remove: search/README.md
# make assignments   sheets for the students of a roster: course/README.md
# make grade SUBMISSIONS=folder   marks and feedback, in build/course/marks
# make clean   removes what was built

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip install -qq --disable-pip-version-check
READY := $(VENV)/ready
# A notebook's kernel warns that its local socket is not encrypted.
QUIET := c.IPKernelApp.log_level = 40
# jsonschema does without this library, whose import takes 1.5 s in every
# kernel; it checks addresses on the web, which no notebook has as a field.
SLOW := rfc3987-syntax
export OMP_NUM_THREADS ?= 1
SPHINX := -q -W --keep-going -c book -d build/doctrees . build/html

BOOK := $(shell find book notebooks accountlib -type f -not -name '*.pyc') \
        _config.yml _toc.yml pyproject.toml CITATION.cff \
        tools/execute.py tools/notebook.py tools/pages.py tools/around.py \
        tools/kernels.py tools/preloaded.py \
        tools/figures.py tools/formulas.py tools/formulas.js tools/styles.py \
        $(wildcard benchmarks/*.json)

# What can be looked up.
BOOK += $(addprefix tools/, definitions.py hover.py lookup.py \
          places.py reference.py)

# Not there where a course keeps it in a repository of its own.
ASSIGNMENTS := $(wildcard notebooks/assignments)
BOOK += tools/home.py tools/markdown.py  # pages to take home
BOOK += tools/play.py  # figures with controls

.PHONY: book test tangle lint live lab slides pdf search assignments grade clean
.DELETE_ON_ERROR:

book: build/book.done
	@echo "The book is ready: open build/html/index.html"

build/book.done: $(BOOK) $(READY)
	$(RUN) tools/tangle.py --check
	$(RUN) tools/execute.py
	$(RUN) -m sphinx $(SPHINX) || { rm -rf build/doctrees; exit 1; }
	touch $@

# Lint needs one core, and the book's last part too: both at once.
test: $(READY)
	$(MAKE) --no-print-directory --output-sync=line --jobs 2 lint book
	$(RUN) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

tangle: $(READY)
	$(RUN) tools/tangle.py

lint: $(READY)
	$(RUN) tools/tangle.py --check
	$(RUN) -m ruff check accountlib tests benchmarks tools search course \
	    $(ASSIGNMENTS) conftest.py book/conf.py
	$(RUN) tools/sizes.py
	$(RUN) tools/lint.py accountlib course $(ASSIGNMENTS) tests tools search \
	    conftest.py

live: book
	$(RUN) -m sphinx_autobuild --ignore build --ignore .git $(SPHINX)

lab: $(READY)
	$(RUN) -m jupyter lab notebooks

slides: book
	$(RUN) tools/slides.py

pdf: book
	$(RUN) tools/pdf.py

search: $(READY)
	nice $(RUN) search/directions.py

# COURSE is the folder with a course's questions, solutions and secret; it may
# stand in a repository of its own.
COURSE ?= notebooks/assignments
MARKED := $(if $(MANUAL),--manual $(MANUAL))

assignments: $(READY)
	$(RUN) -m course release --course $(COURSE)

grade: $(READY)
	$(if $(SUBMISSIONS),,$(error say where: make grade SUBMISSIONS=folder))
	$(RUN) -m course grade --course $(COURSE) $(MARKED) $(SUBMISSIONS)

# The package is installed in place, so that notebooks and tests import the
# files of this folder.
$(READY): $(VENV)/requirements pyproject.toml
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/requirements: requirements.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt
	$(RUN) -m pip uninstall -qq -y $(SLOW)
	mkdir -p $(VENV)/etc/ipython
	echo "$(QUIET)" > $(VENV)/etc/ipython/ipython_kernel_config.py
	touch $@

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
