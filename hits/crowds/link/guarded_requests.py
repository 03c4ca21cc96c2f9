"""Requests one public https address, and never one of this server's own network.

The host's addresses are looked up once, checked, and the connection goes to the one that was checked: a name that means
something else a moment later leads nowhere. Redirects are not followed. Where a server is not set to production,
http on this very machine is allowed as well, so that a lab can try its own service.
"""

import contextlib
import http.client
import re
import socket
import ssl
import threading
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from django.conf import settings

TIMEOUT_SECONDS = 15
WHOLE_SECONDS = 30  # for the answer, however it trickles in: other calls wait behind it
MOST_BYTES = 20_000

NAT64 = IPv6Network("64:ff9b::/96")  # how a network without IPv4 reaches all of it, the last 32 bits
# Kinds of addresses that wrap another one, belong to a site, or lead nowhere on the internet, though Python 3.11 counts
# them to it.
WRAPPING = [
    IPv6Network(one)
    for one in ("64:ff9b:1::/48", "2002::/16", "::/96", "::ffff:0:0:0/96", "fec0::/10", "5f00::/16", "3fff::/20")
]
RELAYS = IPv4Network("192.88.99.0/24")  # unwrapped addresses of 2002::/16


@dataclass(frozen=True)
class NotSent:
    """The request was not sent, since there was no connection: nobody can have acted upon it."""

    in_words: str


@dataclass(frozen=True)
class Sent:
    """The request was sent, and its answer was lost."""

    in_words: str


@dataclass(frozen=True)
class Answer:
    """The request was answered."""

    status: int
    body: str = ""

    @property
    def has_errors(self) -> bool:
        """SONA says 200 whatever happens, and what went wrong in its XML."""
        return re.search(r"<(\w+:)?Errors(?![^>]*nil=\"true\")[\s>]", self.body) is not None

    @property
    def in_words(self) -> str:
        if self.has_errors:
            return "It answered that there was an error."
        return f"It answered {self.status} {http.client.responses.get(self.status, '')}".strip() + "."


def request_once(address: str) -> NotSent | Sent | Answer:
    """Send one GET request."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        ip = _find_allowed(host, port, parts.scheme)
    except (OSError, ValueError) as error:
        return NotSent(f"{host} can't be called: {error}.")
    connection = _Pinned(host, port, ip, is_secure=parts.scheme == "https")
    try:
        connection.connect()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return NotSent(f"There was no connection to {host}: {error}.")
    try:
        return _ask(connection, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
    except UnicodeError as error:  # from before anything was sent
        return NotSent(f"The address can't be sent: {error}.")
    except (OSError, http.client.HTTPException) as error:
        return Sent(f"It was sent, and the answer was lost: {error or type(error).__name__}.")
    finally:
        connection.close()


def _ask(connection: "_Pinned", target: str) -> Answer | Sent:
    """Ask, and hang up when the whole answer takes too long: a timeout alone begins anew with every byte."""
    is_over = threading.Event()

    def hang_up() -> None:
        is_over.set()
        with contextlib.suppress(OSError):
            socket.socket.shutdown(socket_of_connection, socket.SHUT_RDWR)

    socket_of_connection = connection.sock
    timer = threading.Timer(WHOLE_SECONDS, hang_up)
    timer.start()
    try:
        connection.request("GET", target, headers={"User-Agent": "EvalPlatform", "Accept": "*/*"})
        response = connection.getresponse()
        body = response.read(MOST_BYTES).decode(errors="replace")
    finally:
        timer.cancel()
    if is_over.is_set():
        return Sent(f"It was sent, and the answer took longer than {WHOLE_SECONDS} seconds.")
    return Answer(response.status, body)


def _find_allowed(host: str, port: int, scheme: str) -> str:
    """Return an address of the host to which a request may go. Raises ValueError if there is none."""
    found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    addresses = [ip_address(one) for one in found]
    if addresses and all(one.is_loopback for one in addresses) and not settings.IS_PRODUCTION:
        return found[0]
    if scheme != "https":
        raise ValueError("its address does not begin with https://")
    if not addresses or not all(_is_public(one) for one in addresses):
        raise ValueError("it is an address of an internal network")
    return found[0]


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is the internet's, also where it only wraps one of the older kind: a gateway in this
    server's network would unwrap it, and the request would arrive inside."""
    if isinstance(address, IPv6Address):
        if wrapped := address.ipv4_mapped:
            return _is_public(wrapped)
        if address in NAT64:
            return _is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if any(address in network for network in WRAPPING):
            return False
    elif address in RELAYS:
        return False
    return address.is_global and not address.is_multicast


class _Pinned(http.client.HTTPConnection):
    """A connection to one address, with the host's own name in the request and in the certificate."""

    def __init__(self, host: str, port: int, ip: str, is_secure: bool) -> None:
        super().__init__(host, port, timeout=TIMEOUT_SECONDS)
        self._ip, self._is_secure = ip, is_secure

    def connect(self) -> None:
        plain = socket.create_connection((self._ip, self.port), self.timeout)
        if not self._is_secure:
            self.sock = plain
            return
        try:
            self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)
        except OSError:
            plain.close()
            raise
