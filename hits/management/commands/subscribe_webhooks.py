from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse

from evalplatform.commands import PlatformCommand
from hits.crowds import CROWDS, HooksThere, SubscribesToHooks, all_marketplaces, check_is_allowed
from hits.models import marketplace_name

LOOPBACK = ("localhost", "127.0.0.1", "::1", None)


class Command(PlatformCommand):
    help = """Lets a crowd call this server when somebody has begun, finished or returned work (webhooks).

    manage.py subscribe_webhooks --environment production
    manage.py subscribe_webhooks --environment production --show
    manage.py subscribe_webhooks --environment production --remove

It finds or makes the workspace's secret, subscribes PUBLIC_URL to the events that this server uses, and confirms that.
Set the secret in this server's environment, as it says, and restart. Running it again is safe: it makes our
subscriptions anew. Those of other addresses stay. Without webhooks, work is collected every few minutes all the same.

The secret is printed only while this server does not have it. --new-secret makes another one, which replaces the
workspace's for everybody."""

    def add_arguments(self, parser: CommandParser) -> None:
        known = [name for name, crowd in CROWDS.items() if isinstance(crowd, SubscribesToHooks)]
        environments = {one.name: None for name in known for one in CROWDS[name].environments}
        parser.add_argument("--crowd", choices=known, default=known[0])
        parser.add_argument("--environment", choices=list(environments), default=next(iter(environments)))
        parser.add_argument("--currency", default="GBP", help="of the local workspace that is meant (default GBP)")
        parser.add_argument("--new-secret", action="store_true", help="make a new secret, also if there is one")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--show", action="store_true", help="only list what is subscribed")
        what.add_argument("--remove", action="store_true", help="remove the subscriptions to this server's address")

    def handle(self, *args: Any, **options: Any) -> None:
        crowd, environment = CROWDS[options["crowd"]], options["environment"]
        assert isinstance(crowd, SubscribesToHooks)
        marketplace = marketplace_name(crowd.name, environment)
        check_is_allowed(marketplace)
        address = f"{settings.PUBLIC_URL}{reverse('crowd-hook', args=[crowd.name])}"
        is_subscribing = not options["show"] and not options["remove"]
        if is_subscribing and not all_marketplaces()[marketplace].environment.runs_here:
            _check_is_public(address)
        subscriber = crowd.hook_subscriber(environment, options["currency"], address)
        if options["show"]:
            self._list(subscriber.show(), address)
        elif options["remove"]:
            self._list(subscriber.remove(), address)
        else:
            there = subscriber.subscribe(options["new_secret"])
            self._list(there, address)
            self._tell_secret(there.secret, crowd.hooks_signed_by)

    def _list(self, there: HooksThere, address: str) -> None:
        for line in there.lines:
            whose = "this server" if line.is_ours else "another address"
            self.stdout.write(f"{line.event} to {line.address}: {'on' if line.is_enabled else 'off'}, {whose}")
        if not any(line.is_ours for line in there.lines):
            self.stdout.write(f"Nothing is subscribed to {address}.")

    def _tell_secret(self, secret: str, setting: str) -> None:
        if not secret:
            self.stdout.write(
                f"The workspace has a secret, which is not shown again. If this server does not have it in {setting}, "
                "run this with --new-secret."
            )
        elif secret == getattr(settings, setting):
            self.stdout.write(f"This server has the secret in {setting} already.")
        else:
            self.stdout.write(
                f"Set this in the server's environment (it is stored nowhere else), and restart:\n{setting}={secret}"
            )


def _check_is_public(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" or parts.hostname in LOOPBACK:
        raise CommandError(
            f"Calls would go to {address}, and need a public HTTPS address of this server: set "
            "PUBLIC_URL=https://your.host and try again."
        )
