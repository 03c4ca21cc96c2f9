"""Find the address that a request comes from, for limits: the connection's, or the one that our own proxies report."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

UNREADABLE = "unreadable"


def client_address(request: HttpRequest) -> str:
    """Return the client's address. Only the PROXY_COUNT last entries of X-Forwarded-For come from our proxies; the
    client may have written the others. Unreadable addresses share one name, and so its limits; "" means that no address
    is known. An IPv6 address is returned as its network, because one client may have any number of addresses in it."""
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    if settings.PROXY_COUNT and forwarded:
        found = forwarded[max(0, len(forwarded) - settings.PROXY_COUNT)]
    else:
        found = request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(_remove_port(found))
    except ValueError:
        return UNREADABLE if found else ""
    if isinstance(address, IPv6Address) and not address.is_loopback:
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False).network_address)
    return str(address)


def _remove_port(address: str) -> str:
    """Remove the port that some proxies write: 192.0.2.1:4711, [2001:db8::1]:4711."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address


def is_this_machine(address: str) -> bool:
    """Return whether the request comes from this machine. Benchmarks, simulated crowds and tests do, share one address,
    and are not strangers."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
