"""A session that does not open in time ends with what its dial was waiting for."""

from __future__ import annotations

import pytest

from livetools.transport.setup_timeout import Progress, begin, reached


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ("address", "the address of example.org:443 is not known yet"),
        ("TCP", "example.org:443 does not answer (TCP)"),
        ("proxy", "example.org:443 did not get through the proxy px:3128"),
        ("TLS", "example.org:443 accepts TCP and is silent in TLS"),
        ("upgrade", "example.org:443 does not answer the upgrade"),
        ("setup", "the service did not complete the setup"),
    ],
)
def test_the_error_says_how_far_the_dial_got_and_what_to_check(stage: str, says: str) -> None:
    progress = begin()
    reached(stage, where="example.org:443", proxy="px:3128")
    text = str(progress.timed_out(2.5))
    assert text.startswith(f"no session within 2.5 s: {says}")
    assert text.endswith("; setup_timeout= gives it longer")


def test_of_a_transport_that_tells_nothing_the_setup_is_what_was_waited_for() -> None:
    assert "the service did not complete the setup" in str(Progress().timed_out(1.0))
