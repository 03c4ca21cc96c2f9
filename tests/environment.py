"""The environment of the tests, set before Django reads its settings: a pytest plugin, loaded with -p."""

import atexit
import gc
import os
import shutil
import tempfile
from pathlib import Path

import hypothesis

from evalplatform.environment import VARIABLES

# Made by the first process; xdist's workers inherit it, and each has a folder of its own in it (one broker each).
if "PYTEST_VAR_DIR" not in os.environ:
    os.environ["PYTEST_VAR_DIR"] = tempfile.mkdtemp(prefix="evalplatform-tests-")
    atexit.register(shutil.rmtree, os.environ["PYTEST_VAR_DIR"], ignore_errors=True)

for name in VARIABLES:
    os.environ.pop(name, None)
os.environ["VAR_DIR"] = str(Path(os.environ["PYTEST_VAR_DIR"]) / os.environ.get("PYTEST_XDIST_WORKER", "main"))
os.environ["LOG_LEVEL"] = "WARNING"
# The same for all processes that share a test's database, whatever their folders: a database is used with one key.
os.environ["SECRET_KEY"] = "of-the-tests-of-this-machine-and-nothing-else-0123456789"
# One thread: as many processes as cores are busy already, and torch's threads wait for each other by going round in
# circles, which took the tests of networks three times as long beside others.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["GENERATOR_THREADS"] = "1"
if url := os.environ.get("TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = url
# Playwright's event loop runs in the test's thread; Django would refuse to touch the database there.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
# All that tests import is looked through for garbage again and again otherwise: a fifteenth of their time.
gc.set_threshold(20_000, 50, 100)
# Not the 200 ms that hypothesis gives an example: beside other processes, any may take longer. Where slowness is a
# fault (a pattern that takes forever), a test of its own measures it.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")
