"""Where a request comes from, as far as that can be told."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The client's address, with IPv6 cut to the network that one household has. Behind a proxy of ours, it is what
    the proxy has added to X-Forwarded-For, the last: what stands before it, anybody may have written."""
    address = str(request.META.get("REMOTE_ADDR", ""))
    if settings.IS_BEHIND_PROXY:
        address = request.headers.get("X-Forwarded-For", address).rpartition(",")[2].strip()
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False).network_address)
    return str(parsed)
