"""manage.py localturk: serve the local marketplace's Requester API over HTTP."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from localturk.faults import Kind, add_process_fault
from localturk.seeding import ensure_worker_accounts
from localturk.server import MarketplaceServer


class Command(PlatformCommand):
    help = """Serves the local marketplace: Mechanical Turk's Requester API, without Amazon.

    manage.py localturk --port 8010
    manage.py localturk --port 8010 --throttle 10 --latency-ms 150

Point any boto3 code at it with endpoint_url=http://127.0.0.1:8010. If LOCAL_MARKET_KEY_ID and
LOCAL_MARKET_SECRET_KEY are set, calls must be signed with them. Otherwise any credentials will do, and it serves this
machine only. It shares its HITs, workers and money with the pages of this installation.
With -v 2, it prints each call with its HTTP status, so that you see what a tool asks for and what it is refused.

The options from --throttle on make it behave badly while this process runs, to test what a client survives."""

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--port", type=int, required=True, help="0 takes any free port")
        add("--host", default="127.0.0.1", help="other machines can be served only if the keys are set")
        add("--throttle", type=float, metavar="N", help="answer ThrottlingException above N calls a second")
        add("--latency-ms", type=float, metavar="MS", help="let every call take MS milliseconds")
        add("--fail-before", type=float, metavar="P", help="with probability P, answer ServiceFault and do nothing")
        add("--drop-after", type=float, metavar="P", help="with probability P, do it and close without an answer")
        add("--insufficient-funds", action="store_true", help="refuse everything that costs money")
        add("--list-lag", type=float, metavar="S", help="lists leave out what is younger than S seconds")
        add("--offset-pages", type=int, metavar="N", help="lists have pages of N rows that shift as rows come and go")
        add("--operations", default="", metavar="A,B", help="faults strike these operations only")
        add("--times", type=int, metavar="N", help="each fault strikes N times only")
        add("--seed", type=int, default=0, help="the same seed gives the same faults (default 0)")

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_unsigned_service(options["host"])
        _set_faults(options)
        ensure_worker_accounts()
        tell = self._tell if options["verbosity"] > 1 else None
        try:
            server = MarketplaceServer(options["host"], options["port"], tell)
        except OSError as error:
            raise CommandError(f"Can't serve on {options['host']}:{options['port']}: {error.strerror}.") from error
        self.stdout.write(f"Local marketplace on http://{options['host']}:{server.server_port} (end with Ctrl-C)")
        self.stdout.write(
            f"Calls must be signed with the key {settings.LOCAL_MARKET_KEY_ID}."
            if settings.LOCAL_MARKET_KEY_ID
            else "Every program on this machine may call it, with any credentials."
        )
        self.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            server.server_close()

    def _tell(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _refuse_unsigned_service(host: str) -> None:
    """Refuse to serve unsigned calls to other machines, or in production. A caller of the API can read answers and
    workers' ids, pay, and delete."""
    is_here = host in ("localhost", "127.0.0.1", "::1")
    if settings.LOCAL_MARKET_KEY_ID or (is_here and not settings.IS_PRODUCTION):
        return
    why = "in production" if is_here else f"on {host}, where other machines may reach it"
    raise CommandError(
        f"Set LOCAL_MARKET_KEY_ID and LOCAL_MARKET_SECRET_KEY first: {why}, the marketplace takes signed calls only."
    )


def _set_faults(options: dict[str, Any]) -> None:
    limits = {"operation": options["operations"], "times_left": options["times"], "seed": options["seed"]}
    amounts = {
        Kind.THROTTLE: options["throttle"],
        Kind.LATENCY: options["latency_ms"],
        Kind.LIST_LAG: options["list_lag"],
        Kind.OFFSET_PAGES: options["offset_pages"],
    }
    for kind, amount in amounts.items():
        if amount is not None:
            add_process_fault(kind, amount, **limits)
    for kind, probability in ((Kind.FAIL_BEFORE, options["fail_before"]), (Kind.DROP_AFTER, options["drop_after"])):
        if probability is not None:
            add_process_fault(kind, probability=probability, **limits)
    if options["insufficient_funds"]:
        add_process_fault(Kind.INSUFFICIENT_FUNDS, **limits)
