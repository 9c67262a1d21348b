# make book    the pages, in build/html; only pages that changed run again
# make test    every check; builds the book first where it is missing or stale
# make tangle  writes accountlib anew from the notebooks
# make lint    style, types and sizes only
# make lab     opens the notebooks in JupyterLab
# make assignments   sheets for the students of a roster: course/README.md
# make grade SUBMISSIONS=folder   marks and feedback, in build/course/marks
# make clean   removes what was built

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
# Most modules are never imported; those that are get compiled then.
PIP := $(RUN) -m pip install -qq --disable-pip-version-check --no-compile
# A notebook's kernel warns that its local socket is not encrypted.
QUIET := c.IPKernelApp.log_level = 40
# jsonschema does without this library, whose import takes 1.5 s in every
# kernel; it checks addresses on the web, which no notebook has as a field.
SLOW := rfc3987-syntax
# The package is imported from this folder, by notebooks and tests.
HERE := import site; print(site.getsitepackages()[0] + "/accountlib.pth")
READY := $(VENV)/ready
export OMP_NUM_THREADS ?= 1
# Else glibc hands the pages of long arrays back each time: a tenth of the
# engine's time.
export MALLOC_MMAP_MAX_ ?= 0
export MALLOC_TRIM_THRESHOLD_ ?= 1073741824

BOOK := $(shell find book notebooks accountlib -type f -not -name '*.pyc') \
        $(wildcard benchmarks/*.json) \
        _config.yml _toc.yml pyproject.toml CITATION.cff tools/tangle.py
PAGES := $(wildcard notebooks/*.md notebooks/beyond/*.md)
# Not there where a course keeps it in a repository of its own.
ASSIGNMENTS := $(wildcard notebooks/assignments)

.PHONY: book test tangle lint lab assignments grade clean
.DELETE_ON_ERROR:

book: build/book.done
	@echo "The book is ready: open build/html/index.html"

# After an error all pages are read anew, so that no warning is forgotten.
build/book.done: $(BOOK) $(READY)
	$(RUN) tools/tangle.py --check
	$(RUN) -m sphinx -q -W --keep-going -c book -d build/doctrees . build/html \
	    || { rm -rf build/doctrees; exit 1; }
	touch $@

# The pages run a second time, by nbval, and must print and draw the same.
test: book lint
	$(RUN) -m pytest --nbval build/executed/book/index.ipynb \
	    $(PAGES:%.md=build/executed/%.ipynb) tests accountlib \
	    -n 2 --dist loadfile

tangle: $(READY)
	$(RUN) tools/tangle.py

lint: $(READY)
	$(RUN) tools/tangle.py --check
	$(RUN) tools/sizes.py
	rm -rf build/pages
	$(RUN) -m jupytext -q --from notebooks///md:myst \
	    --to build/pages///ipynb $(PAGES)
	$(RUN) -m ruff check -q accountlib tests benchmarks tools course \
	    $(ASSIGNMENTS) conftest.py book/conf.py build/pages/*.ipynb \
	    build/pages/*/*.ipynb
	$(RUN) -m mypy accountlib course

lab: $(READY)
	$(RUN) -m jupyter lab notebooks

# COURSE is the folder with a course's questions, solutions and secret; it may
# stand in a repository of its own.
COURSE ?= notebooks/assignments
MARKED := $(if $(MANUAL),--manual $(MANUAL))

assignments: $(READY)
	$(RUN) -m course release --course $(COURSE)

grade: $(READY)
	$(if $(SUBMISSIONS),,$(error say where: make grade SUBMISSIONS=folder))
	$(RUN) -m course grade --course $(COURSE) $(MARKED) $(SUBMISSIONS)

$(READY): requirements.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt
	$(RUN) -m pip uninstall -qq -y $(SLOW)
	mkdir -p $(VENV)/etc/ipython
	echo "$(QUIET)" > $(VENV)/etc/ipython/ipython_kernel_config.py
	echo "$(CURDIR)" > "$$($(RUN) -c '$(HERE)')"
	touch $@

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
