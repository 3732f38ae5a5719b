"""Who dials: fresh for every dial, and never shown."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from livetools.errors import ConfigError, ConnectFailed, LiveToolsError
from livetools.transport import credentials as c

pytestmark = pytest.mark.anyio

SECRET = "AIzaSy-not-to-be-seen"


class Credentials:
    """Google's, as far as they are used: a token that expires."""

    quota_project_id = "billing"

    def __init__(self, fails: bool = False) -> None:
        self.token: str | None = None
        self.expired = False
        self.refreshed = 0
        self.fails = fails

    def refresh(self, request: object) -> None:
        if self.fails:
            raise RuntimeError(f"the token server said {SECRET}")
        self.refreshed += 1
        self.token = f"token-{self.refreshed}"
        self.expired = False


def told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


async def test_a_callable_is_asked_for_a_key_at_every_dial() -> None:
    keys = iter(["one", "two"])

    async def fetch() -> str:
        return next(keys)

    assert (await c.Keyed(lambda: "one").grant()) == {"x-goog-api-key": "one"}
    key = c.Keyed(fetch)
    assert [(await key.grant())["x-goog-api-key"] for _ in range(2)] == ["one", "two"]


async def test_an_ephemeral_token_is_known_for_one() -> None:
    assert c.Keyed("auth_tokens/x").ephemeral
    assert not c.Keyed(lambda: "auth_tokens/x").ephemeral
    for key in (c.Keyed("auth_tokens/x"), c.Keyed(lambda: "auth_tokens/x")):
        assert await key.grant() == {"Authorization": "Token auth_tokens/x"}


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("", "empty"),
        (f"{SECRET} {SECRET}", "blanks"),
        (f"{SECRET}\nX-Evil: 1", "line breaks.*pass the key alone"),
        (f"{SECRET}é", "ASCII"),
        (f"{SECRET}\x00", "ASCII"),
        (7, "int"),
        (SECRET.encode(), "bytes"),
    ],
)
async def test_what_can_be_no_key_is_refused_without_its_value(key: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        c.Keyed(key)
    assert SECRET not in told(caught.value)
    with pytest.raises(ConfigError, match=said) as caught:
        await c.Keyed(lambda: key).grant()
    assert SECRET not in told(caught.value)


async def test_blanks_around_a_key_are_not_part_of_it() -> None:
    assert (await c.Keyed(f" {SECRET}\n").grant()) == {"x-goog-api-key": SECRET}


async def test_a_callable_that_raises_is_told_without_its_words() -> None:
    def broken() -> str:
        raise KeyError(SECRET)

    async def broken_too() -> str:
        raise KeyError(SECRET)

    sources: list[Callable[[], str | Awaitable[str]]] = [broken, broken_too]
    for source in sources:
        with pytest.raises(LiveToolsError, match="KeyError") as caught:
            await c.Keyed(source).grant()
        assert SECRET not in told(caught.value)


async def test_google_s_token_is_refreshed_when_it_has_expired_and_not_before() -> None:
    credentials = Credentials()
    identity = c.GoogleCloud(credentials)
    first, second = await identity.grant(), await identity.grant()
    assert first == {"Authorization": "Bearer token-1", "x-goog-user-project": "billing"}
    assert second == first
    credentials.expired = True
    assert (await identity.grant())["Authorization"] == "Bearer token-2"


async def test_a_refresh_that_fails_says_what_to_do_and_not_what_the_server_said() -> None:
    with pytest.raises(ConnectFailed, match=r"RuntimeError.*gcloud auth") as caught:
        await c.GoogleCloud(Credentials(fails=True)).grant()
    assert SECRET not in told(caught.value)


async def test_a_token_that_was_refused_is_refreshed_though_it_has_not_expired() -> None:
    identity = c.GoogleCloud(Credentials())
    refused = await identity.grant()
    assert await identity.renew(refused)
    assert (await identity.grant())["Authorization"] == "Bearer token-2"


async def test_a_token_that_two_sessions_were_refused_is_refreshed_once() -> None:
    credentials = Credentials()
    identity = c.GoogleCloud(credentials)
    refused = await identity.grant()
    assert await identity.renew(refused)
    assert await identity.renew(refused)  # the other session's, with the old token
    assert credentials.refreshed == 2


async def test_a_refresh_after_a_refusal_that_fails_is_logged_and_nothing_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    credentials = Credentials()
    identity = c.GoogleCloud(credentials)
    refused = await identity.grant()
    credentials.fails = True
    assert not await identity.renew(refused)
    assert "could not be refreshed (RuntimeError)" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("identity", [c.Keyed("one"), c.Identity({"Authorization": "Bearer x"})])
async def test_what_is_fixed_cannot_be_renewed(identity: c.Identity) -> None:
    assert not await identity.renew(await identity.grant())


async def test_what_are_no_credentials_is_said() -> None:
    with pytest.raises(ConfigError, match="google-auth"):
        await c.GoogleCloud(object()).grant()


def test_no_repr_shows_a_secret() -> None:
    key, fixed = c.Keyed(SECRET), c.Identity({"Authorization": SECRET})
    assert SECRET not in repr([key, fixed, c.GoogleCloud(None)])
