"""Where a request comes from, for limits: by the connection, or by what our own proxies say."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Of X-Forwarded-For only what our PROXY_COUNT proxies added at its end: whatever stands before that, the client
    wrote. "" if it can't be read. An IPv6 address stands for its network, of which one client may have any number."""
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    if settings.PROXY_COUNT and forwarded:
        found = forwarded[max(0, len(forwarded) - settings.PROXY_COUNT)]
    else:
        found = request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(found)
    except ValueError:
        return ""
    if isinstance(address, IPv6Address) and not address.is_loopback:
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False).network_address)
    return str(address)


def is_this_machine(address: str) -> bool:
    """What runs here (benchmarks, a simulated crowd, tests) shares one address, and is no stranger."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
