"""Where a request comes from, for limits: by the connection, or by what our own proxies say."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

UNREADABLE = "unreadable"


def client_address(request: HttpRequest) -> str:
    """Of X-Forwarded-For only what our PROXY_COUNT proxies added at its end: whatever stands before that, the client
    wrote. All that can't be read share one name, and its limits; "" where nobody says anything. An IPv6 address stands
    for its network, of which one client may have any number."""
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    if settings.PROXY_COUNT and forwarded:
        found = forwarded[max(0, len(forwarded) - settings.PROXY_COUNT)]
    else:
        found = request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(_without_port(found))
    except ValueError:
        return UNREADABLE if found else ""
    if isinstance(address, IPv6Address) and not address.is_loopback:
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False).network_address)
    return str(address)


def _without_port(address: str) -> str:
    """Some proxies write one: 192.0.2.1:4711, [2001:db8::1]:4711."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address


def is_this_machine(address: str) -> bool:
    """What runs here (benchmarks, a simulated crowd, tests) shares one address, and is no stranger."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
