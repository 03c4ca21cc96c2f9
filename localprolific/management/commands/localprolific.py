"""manage.py localprolific: serve the local Prolific's API over HTTP, and issue tokens for it."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from localprolific.http_server import ProlificServer
from localprolific.in_process import issue_token
from localprolific.misbehaving import Kind, add_process_fault
from localprolific.seeding import ensure_participants

FAULTS = {
    Kind.THROTTLE: "answer 429 and do nothing",
    Kind.FAIL_BEFORE: "answer 500 and do nothing",
    Kind.FAIL_AFTER: "do it and answer 500",
    Kind.DROP_AFTER: "do it and close without an answer",
}
LAGS = {
    Kind.BONUS_LAG: "bonuses become visible only S seconds after they were paid",
    Kind.LIST_LAG: "lists leave out what is younger than S seconds",
}


class Command(PlatformCommand):
    help = """Serves the local Prolific: its API, without Prolific and without real money.

    manage.py localprolific --port 8011
    manage.py localprolific --port 8011 --drop-after 0.2 --operations pay_bonus_payments
    manage.py localprolific --token

Point any client for Prolific at it with the address http://127.0.0.1:8011 instead of https://api.prolific.com, and give
it the token that is printed. It shares studies, participants and money with the pages of this installation, and serves
this machine only. With -v 2, it prints each call with its HTTP status.

The options from --throttle on make it behave badly while this process runs, to test what a client survives."""

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--token", action="store_true", help="only issue a token, and print it")
        add("--currency", choices=["GBP", "USD"], default="GBP", help="of the token's workspace (default GBP)")
        add("--port", type=int, help="0 takes any free port")
        for kind, words in FAULTS.items():
            add(f"--{kind.value}", type=float, metavar="P", help=f"with probability P, {words}")
        for kind, words in LAGS.items():
            add(f"--{kind.value}", type=float, metavar="S", help=words)
        add("--operations", default="", metavar="A,B", help="faults strike these operations only")
        add("--times", type=int, metavar="N", help="each fault strikes N times only")
        add("--seed", type=int, default=0, help="the same seed gives the same faults (default 0)")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.IS_PRODUCTION:
            raise CommandError("The local Prolific is for rehearsals. It does not run in production.")
        if options["token"]:
            self.stdout.write(issue_token(options["currency"]))
            return
        if options["port"] is None:
            raise CommandError("Say where to serve with --port, or ask for a token only with --token.")
        _set_faults(options)
        ensure_participants()
        tell = self._tell if options["verbosity"] > 1 else None
        try:
            server = ProlificServer("127.0.0.1", options["port"], tell)
        except OSError as error:
            raise CommandError(f"Can't serve on port {options['port']}: {error.strerror}.") from error
        self.stdout.write(f"Local Prolific on http://127.0.0.1:{server.server_port} (end with Ctrl-C)")
        self.stdout.write(f"Token: {issue_token(options['currency'])}")
        self.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            server.server_close()

    def _tell(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _set_faults(options: dict[str, Any]) -> None:
    limits = {"operation": options["operations"], "times_left": options["times"], "seed": options["seed"]}
    for kind in FAULTS:
        if (probability := options[kind.value.replace("-", "_")]) is not None:
            add_process_fault(kind, probability=probability, **limits)
    for kind in LAGS:
        if (seconds := options[kind.value.replace("-", "_")]) is not None:
            add_process_fault(kind, seconds, **limits)
