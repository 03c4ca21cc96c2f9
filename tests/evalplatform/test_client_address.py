"""Where a request comes from: never what a client says of itself."""

import pytest
from django.test import RequestFactory, override_settings

from evalplatform.client_address import client_address, is_this_machine


@pytest.mark.parametrize(
    ("proxies", "connection", "forwarded", "address"),
    [
        (0, "198.51.100.7", "203.0.113.9", "198.51.100.7"),  # nobody of ours wrote that header
        (1, "127.0.0.1", "203.0.113.9", "203.0.113.9"),
        (1, "127.0.0.1", "1.2.3.4, 203.0.113.9", "203.0.113.9"),  # the client's lie stands before the proxy's word
        (2, "127.0.0.1", "1.2.3.4, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "127.0.0.1", "203.0.113.9", "203.0.113.9"),
        (1, "198.51.100.7", "", "198.51.100.7"),
        (1, "127.0.0.1", "not an address", "unreadable"),
        (0, "", "", ""),
        (0, "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::"),  # one household has all of that network
        (0, "::ffff:198.51.100.7", "", "198.51.100.7"),
    ],
)
def test_an_address_is_what_the_connection_or_our_own_proxies_say(
    proxies: int, connection: str, forwarded: str, address: str
) -> None:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR=connection)

    with override_settings(PROXY_COUNT=proxies):
        assert client_address(request) == address


def test_this_machine_is_known_by_both_its_addresses() -> None:
    assert [is_this_machine(one) for one in ("127.0.0.1", "::1", "198.51.100.7", "", "x")] == [
        True,
        True,
        False,
        False,
        False,
    ]
