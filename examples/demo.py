"""`make demo`: run everything from corpus to bundle on embedded parts, then serve the pages.

It is safe to run again: what exists stays, and only what is missing is made.
"""

import argparse
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from evalplatform.environment import VARIABLES

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "examples" / "corpus"
DATASETS = {"example-subtitles": "subtitles", "example-emotional": "emotional", "example-empathetic": "empathetic"}
RATED = {"demo.toml": "demo", "demo_likert.toml": "demo-likert", "demo_pairs.toml": "demo-pairs"}  # by a crowd
STUDIES = {**RATED, "demo_trained.toml": "demo-trained"}
BY_LINK = "demo-link"
OF_ALL = "demo-all"
PAGES = {
    "home": "",
    "datasets": "datasets/",
    "models": "models/",
    "study": "studies/demo/",
    "its monitor": "studies/demo/monitor/",
    "its results": "studies/demo/results/",
    "results, on scales": "studies/demo-likert/results/",
    "results, in pairs": "studies/demo-pairs/results/",
    "API": "api/",
    "work as a worker": "market/",
    "health": "health/",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=int, default=1, help="0: do the work and exit, without serving pages")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--systems", choices=["two", "all"], default="two", help="all: a tiny network of every kind")
    arguments = parser.parse_args()

    for name in set(VARIABLES) - {"VAR_DIR"}:  # embedded parts only, whatever the shell is set up for
        os.environ.pop(name, None)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
    os.environ["LOG_LEVEL"] = "WARNING"
    # For networks as tiny as the demo's, threads cost more than they gain.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["GENERATOR_THREADS"] = "1"
    port = free_port(arguments.port)
    os.environ["PUBLIC_URL"] = f"http://127.0.0.1:{port}"  # where published HITs find the worker's page
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # like Ctrl-C, so that started processes end, too
    django.setup()
    prepare_database()
    import_corpus()
    networks = train_networks(arguments.systems == "all")
    with background_process():
        generate_replies(networks)
        check_styles()
        score_replies()
        make_study(networks)
        publish_study()
        let_a_crowd_work()
        show_results()
        compute_pages()
        print_counts()
        if arguments.serve:
            serve(port)


def prepare_database() -> None:
    from django.core.management import call_command

    say("Preparing the database in var/")
    call_command("migrate", verbosity=0)


def import_corpus() -> None:
    from django.core.management import call_command

    say("Importing the example corpus")
    for dataset, file in DATASETS.items():
        call_command("import_dialogs", CORPUS / f"{file}.jsonl", dataset=dataset)
    call_command("import_candidates", CORPUS / "candidates.jsonl")


def train_networks(has_all: bool) -> dict[str, str]:
    """Return the kinds of the networks that were trained, by their names."""
    from examples import tiny_networks

    what = "a tiny network of every kind" if has_all else "two tiny networks: the paper's Transformer and MEED2"
    say(f"Training {what}")
    networks = tiny_networks.all_networks() if has_all else tiny_networks.TWO_NETWORKS
    return tiny_networks.train_networks(networks, DATASETS)


def generate_replies(networks: dict[str, str]) -> None:
    from examples import tiny_networks

    say("A background process lets them answer")
    tiny_networks.generate_replies(networks, DATASETS)


def score_replies() -> None:
    """Compute all metrics but similarity, whose network takes long to load."""
    from django.core.management import call_command

    say("Scoring all replies with automatic metrics")
    for dataset in DATASETS:
        call_command("score_candidates", dataset=dataset, without_similarity=True)


def make_study(networks: dict[str, str]) -> None:
    from django.conf import settings
    from django.core.management import call_command

    from examples.tiny_networks import TWO_NETWORKS

    say("Designing a study of each way of asking and building its HITs; and one with the trained networks")
    for file, study in {**STUDIES, "demo_link.toml": BY_LINK}.items():
        call_command("create_study", ROOT / "examples" / file)
        call_command("build_hits", study)
    if networks.keys() != TWO_NETWORKS.keys():
        say(f"And a study with all {len(networks)} networks side by side")
        design = (ROOT / "examples" / "demo_trained.toml").read_text().replace('"demo-trained"', f'"{OF_ALL}"')
        named = ", ".join(f'"{name}"' for name in sorted(networks))
        side_by_side: Path = settings.VAR_DIR / f"{OF_ALL}.toml"
        side_by_side.write_text(re.sub(r"^generators = .*", f"generators = [{named}]", design, flags=re.MULTILINE))
        call_command("create_study", side_by_side)
        call_command("build_hits", OF_ALL)


def publish_study() -> None:
    from django.core.management import call_command

    say("Publishing their HITs to the marketplace that runs here")
    for study in STUDIES.values():
        call_command("publish_hits", study, before_serving=True)
    say("Offering a small study by an open link: whoever opens it rates")
    call_command("publish_hits", BY_LINK, crowd="link", before_serving=True)


def let_a_crowd_work() -> None:
    """Let a crowd finish one study of each way of asking, so that results hold verdicts. The others' HITs are yours."""
    from django.core.management import call_command

    say("A simulated crowd works on three studies: with areas, on scales, and in pairs")
    for study in RATED.values():
        call_command("simulate_crowd", study)
    say("Collecting and paying the submitted work")
    for study in RATED.values():
        call_command("sync_hits", study)
    say("Screening it by each study's own rules")
    for study in RATED.values():
        call_command("screen_study", study)


def show_results() -> None:
    from django.conf import settings
    from django.core.management import call_command

    bundle = settings.VAR_DIR / "demo-bundle"
    say("The study's results")
    call_command("show_results", "demo")
    is_first = not bundle.exists()
    say("Everything in one bundle" + (", which is then checked from its ratings alone" if is_first else ""))
    call_command("export_study", "demo", out=bundle)
    if is_first:
        call_command("check_bundle", bundle)


def compute_pages() -> None:
    """Compute what the results' pages show, or the first visit would wait for a background process."""
    from django.utils import timezone

    from hits.analysing import compute_results
    from hits.designing import get_study
    from hits.models import offering_for

    say("Computing the pages of results")
    for study in RATED.values():
        compute_results(offering_for(get_study(study), "local"), timezone.now)


def check_styles() -> None:
    """Check styles in the background process, through the broker, as the pages do."""
    from django.utils import timezone

    from generation.models import Dataset
    from generation.tasks import check_style_of_dataset

    say("A background process checks whether looks give the human replies away")
    started_at = timezone.now()
    datasets = Dataset.objects.filter(name__in=DATASETS)
    for dataset in datasets:
        check_style_of_dataset.delay(dataset.pk)
    deadline = time.monotonic() + 120
    while datasets.filter(style_checked_at__gte=started_at).count() < len(DATASETS):
        if time.monotonic() > deadline:
            sys.exit("The background process did not answer in two minutes; its messages are in var/demo-process.log.")
        time.sleep(0.2)
    for dataset in datasets.all():
        print(f"  {dataset}: {(dataset.style_findings or {})['sentence']}")


def print_counts() -> None:
    from generation.counting import count_datasets
    from generation.models import Dataset

    say("There are now")
    for counts in count_datasets(Dataset.objects.filter(name__in=DATASETS)):
        replies = sum(coverage.candidate_count for coverage in counts.coverage)
        print(
            f"  {counts.dataset}: {counts.dialog_count} dialogs, {counts.gold_count} with a human reply, "
            f"{replies} replies by {len(counts.coverage)} models"
        )


def serve(port: int) -> None:
    name, password = demo_login()
    address = f"http://127.0.0.1:{port}/"
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "4"]
    server = subprocess.Popen([*command, "--log-level", "warning", "evalplatform.wsgi"], cwd=ROOT)
    try:
        say("The pages are served")
        for page, path in PAGES.items():
            print(f"  {page:18} {address}{path}")
        print(f"  {'rate by a link':18} {demo_link(address)}  (in a private window)")
        print(f"  log in as {name} with the password {password}\n  Ctrl-C stops.", flush=True)
        if server.wait():
            sys.exit("The web server ended by itself; its messages are above.")
    except KeyboardInterrupt:
        pass
    finally:
        server.terminate()
        server.wait()


def demo_link(address: str) -> str:
    from hits.crowds import link_address, links_of
    from hits.designing import get_study
    from hits.models import offering_for

    (link, *_) = links_of(offering_for(get_study(BY_LINK), "link.trial"))
    return address + link_address(link).split("/", 3)[3]


def demo_login() -> tuple[str, str]:
    """Return the demo's login. It is the same at every run; its password is made once, for this machine only."""
    from django.conf import settings
    from django.contrib.auth import get_user_model

    file = settings.VAR_DIR / "demo-password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(9))
    password = file.read_text()
    user, _ = get_user_model().objects.get_or_create(username="demo", defaults={"is_staff": True, "is_superuser": True})
    if not user.check_password(password):
        user.set_password(password)
        user.save()
    return "demo", password


@contextmanager
def background_process() -> Iterator[None]:
    from django.conf import settings

    command = [sys.executable, "-m", "celery", "--app", "evalplatform", "worker"]
    # --beat also runs the scheduler, so that submitted work is collected by itself, as the monitor says.
    options = ["--beat", "--queues", "default,gpu", "--concurrency", "1", "--loglevel", "info"]
    with (settings.VAR_DIR / "demo-process.log").open("w") as log:
        process = subprocess.Popen([*command, *options], cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        try:
            yield
        finally:
            # Tasks are acknowledged late, so killing loses none, and saves the seconds of Celery's own shutdown.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port(wanted: int) -> int:
    for port in range(wanted, wanted + 50):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    sys.exit(f"Ports {wanted} to {wanted + 49} are all taken; name another with make demo PORT=...")


def say(text: str) -> None:
    print(f"\n{text}", flush=True)


if __name__ == "__main__":
    main()
