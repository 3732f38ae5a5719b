"""Where a session is dialled and as whom, whoever said it; and that no secret shows."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from google import genai

from livetools.errors import ConfigError
from livetools.transport.credentials import GoogleCloud, Keyed
from livetools.transport.endpoint import Endpoint, Given, is_loopback, resolve, websocket_url

pytestmark = pytest.mark.anyio

SECRET = "AIzaSy-not-to-be-seen"
GEMINI = "wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage"
CLOUD = "LlmBidiService/BidiGenerateContent"


def no_default() -> tuple[object, str | None]:
    raise AssertionError("the default credentials were asked for")


def made(environ: dict[str, str] | None = None, **options: Any) -> Endpoint:
    names = {each.name for each in dataclasses.fields(Given)}
    given = Given(**{name: value for name, value in options.items() if name in names})
    beside = {name: value for name, value in options.items() if name not in names}
    return resolve(given, environ=environ or {}, **{"default": no_default, **beside})


class Credentials:
    """Google's, as far as they are used."""

    token, expired, quota_project_id = "token", False, "billing"


class TestTheGeminiApi:
    async def test_a_key_goes_into_a_header_and_never_into_the_url(self) -> None:
        target = await made(api_key=SECRET).target()
        assert target.url == f"{GEMINI}.v1beta.GenerativeService.BidiGenerateContent"
        assert target.headers == {"x-goog-api-key": SECRET}

    async def test_an_ephemeral_token_has_a_method_a_version_and_a_scheme_of_its_own(self) -> None:
        url = f"{GEMINI}.v1alpha.GenerativeService.BidiGenerateContentConstrained"
        endpoint = made(api_key="auth_tokens/x")
        assert endpoint.url == url
        assert (await endpoint.target()).headers == {"Authorization": "Token auth_tokens/x"}
        assert (await made(api_key=lambda: "auth_tokens/x").target()).url == url
        later = made(api_key="auth_tokens/x", api_version="v1beta")
        assert later.url == f"{GEMINI}.v1beta.GenerativeService.BidiGenerateContentConstrained"

    async def test_a_callable_is_asked_for_a_key_at_every_dial(self) -> None:
        keys = iter(["one", "two"])

        async def fetch() -> str:
            return next(keys)

        for source in (lambda: "one", fetch):
            endpoint = made(api_key=source)
            assert (await endpoint.target()).headers == {"x-goog-api-key": "one"}
        assert (await endpoint.target()).headers == {"x-goog-api-key": "two"}

    async def test_the_environment_gives_the_key_google_s_name_first(self) -> None:
        both = made({"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"})
        assert (await both.target()).headers == {"x-goog-api-key": "a"}
        assert "GOOGLE_API_KEY is used" in both.warnings[0]
        assert (await made({"GOOGLE_API_KEY": "", "GEMINI_API_KEY": " b\n"}).target()).headers == {
            "x-goog-api-key": "b"
        }
        assert (await made({"GOOGLE_API_KEY": "a"}, api_key="c").target()).headers == {"x-goog-api-key": "c"}

    def test_a_url_of_the_environment_that_is_none_is_told_by_the_name_of_its_variable(self) -> None:
        with pytest.raises(
            ConfigError, match=r"^GOOGLE_GEMINI_BASE_URL is set, and base_url: 'x' is not a URL"
        ):
            made({"GOOGLE_GEMINI_BASE_URL": "x"}, api_key="k")
        with pytest.raises(ConfigError, match=r"^GOOGLE_VERTEX_BASE_URL is set"):
            made({"GOOGLE_VERTEX_BASE_URL": "http://h:x"}, vertexai=True, api_key="k")

    def test_the_version_is_asked_needed_set_or_v1beta(self) -> None:
        assert made(api_key="k").api_version == "v1beta"
        assert made(api_key="k", v1alpha=True).api_version == "v1alpha"
        assert made({"GOOGLE_GENAI_API_VERSION": "v1"}, api_key="k").api_version == "v1"
        assert made({"GOOGLE_GENAI_API_VERSION": "beta"}, api_key="k").api_version == "v1beta"
        assert made({"GOOGLE_GENAI_API_VERSION": "v1"}, api_key="k", v1alpha=True).api_version == "v1alpha"
        assert made(api_key="k", api_version="v1", v1alpha=True).api_version == "v1"
        with pytest.raises(ConfigError, match="api_version"):
            made(api_key="k", api_version="v1/../x")
        with pytest.raises(ConfigError, match="api_version"):
            made(api_key="k", api_version="")

    async def test_options_of_the_config_count_and_are_not_said_twice(self) -> None:
        options = {"baseUrl": "https://gw.example/x", "apiVersion": "v1", "headers": {"X-Team": "blue"}}
        target = await made(api_key="k", http_options=options).target()
        assert target.url.startswith("wss://gw.example/x/ws/google.ai.generativelanguage.v1.")
        assert target.headers == {"x-goog-api-key": "k", "X-Team": "blue"}
        with pytest.raises(ConfigError, match="only one of them"):
            made(api_key="k", base_url="https://x", http_options=options)

    async def test_a_key_in_a_header_of_ones_own_is_enough(self) -> None:
        headers = {"X-Goog-Api-Key": "mine"}
        assert (await made(http_options={"headers": headers}).target()).headers == headers
        assert (await made(api_key="k", http_options={"headers": headers}).target()).headers == headers
        for wrong in ({"a b": "c"}, {"a": "b\r\nc: d"}, {"a": 1}):
            with pytest.raises(ConfigError, match="headers"):
                made(api_key="k", http_options={"headers": wrong})


class TestNoKey:
    def test_the_variables_that_were_looked_at_are_named(self) -> None:
        with pytest.raises(ConfigError, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
            made()

    @pytest.mark.parametrize(
        "name",
        [
            "GEMINI_KEY",
            "GOOGLE_GENAI_API_KEY",
            "GOOGLE_GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "GOOGLE_AI_STUDIO_API_KEY",
            "GEMINI_API_TOKEN",
            "gemini_api_key",
            "GOOGLE_AI_KEY",
            "API_KEY",
        ],
    )
    def test_a_key_in_a_variable_that_nobody_reads_is_found_and_not_shown(self, name: str) -> None:
        with pytest.raises(ConfigError, match=rf"{name} is set, but nothing reads it") as caught:
            made({name: SECRET, "OPENAI_API_KEY": SECRET, "GOOGLE_MAPS_KEY": SECRET})
        assert SECRET not in str(caught.value)
        assert "OPENAI" not in str(caught.value)

    def test_of_several_all_are_named(self) -> None:
        with pytest.raises(
            ConfigError, match="GEMINI_KEY, GOOGLE_AI_KEY are set, but nothing reads them: rename one"
        ):
            made({"GOOGLE_AI_KEY": SECRET, "GEMINI_KEY": SECRET})

    async def test_this_machine_needs_none(self) -> None:
        target = await made(base_url="http://127.0.0.1:9").target()
        assert target.url.startswith("ws://127.0.0.1:9/ws/google.ai.generativelanguage.v1beta.")
        assert list(target.headers) == ["x-goog-api-key"]
        assert (await made({"GEMINI_API_KEY": "k"}, base_url="http://[::1]:9").target()).headers == {
            "x-goog-api-key": "k"
        }


class TestVertex:
    async def test_a_project_a_location_and_credentials(self) -> None:
        credentials = Credentials()
        endpoint = made(vertexai=True, project="p", location="us-central1", credentials=credentials)
        target = await endpoint.target()
        assert (
            target.url
            == f"wss://us-central1-aiplatform.googleapis.com/ws/google.cloud.aiplatform.v1beta1.{CLOUD}"
        )
        assert target.headers == {"Authorization": "Bearer token", "x-goog-user-project": "billing"}
        assert (endpoint.project, endpoint.location) == ("p", "us-central1")

    @pytest.mark.parametrize(
        ("location", "host"),
        [
            (None, "aiplatform.googleapis.com"),
            ("global", "aiplatform.googleapis.com"),
            ("eu", "aiplatform.eu.rep.googleapis.com"),
            ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
        ],
    )
    def test_each_location_has_its_host(self, location: str | None, host: str) -> None:
        endpoint = made(vertexai=True, project="p", location=location, credentials=Credentials())
        assert endpoint.url.split("/")[2] == host

    async def test_the_environment_names_the_project_and_a_project_goes_before_a_key(self) -> None:
        environ = {
            "GOOGLE_GENAI_USE_VERTEXAI": "True",
            "GOOGLE_CLOUD_PROJECT": "p",
            "GOOGLE_CLOUD_LOCATION": "us-east5",
            "GOOGLE_API_KEY": "k",
        }
        endpoint = made(environ)
        assert isinstance(endpoint.identity, GoogleCloud)
        assert (endpoint.vertexai, endpoint.project, endpoint.location) == (True, "p", "us-east5")
        express = made(environ, api_key="mine")
        assert (express.project, express.location) == (None, None)
        assert (await express.target()).headers == {"x-goog-api-key": "mine"}
        assert made({**environ, "GOOGLE_GENAI_USE_ENTERPRISE": "0"}).vertexai is False
        only = {"GOOGLE_GENAI_USE_ENTERPRISE": "1", "GEMINI_API_KEY": "k"}
        assert (await made(only).target()).headers == {"x-goog-api-key": "k"}

    def test_without_a_project_the_default_credentials_are_asked_for_theirs(self) -> None:
        endpoint = made(vertexai=True, default=lambda: (Credentials(), "theirs"))
        assert (endpoint.project, endpoint.location) == ("theirs", "global")
        with pytest.raises(ConfigError, match="GOOGLE_CLOUD_PROJECT"):
            made(vertexai=True, default=lambda: (Credentials(), None))

    async def test_this_machine_and_a_gateway_need_no_google_cloud(self) -> None:
        local = await made(vertexai=True, base_url="http://localhost:9").target()
        assert local.url == f"ws://localhost:9/ws/google.cloud.aiplatform.v1beta1.{CLOUD}"
        assert list(local.headers) == ["Authorization"]
        environ = {"GOOGLE_VERTEX_BASE_URL": "https://gw.example", "GOOGLE_CLOUD_PROJECT": "p"}
        gateway = made(environ, vertexai=True)
        assert gateway.project is None
        assert (await gateway.target()).headers == {}

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"project": "p"}, "vertexai=True"),
            ({"credentials": Credentials()}, "vertexai=True"),
            ({"vertexai": False, "location": "l"}, "vertexai=True"),
            ({"vertexai": True, "api_key": "k", "credentials": Credentials()}, "one of them"),
            ({"vertexai": True, "project": "p", "location": "evil.example/"}, "location"),
        ],
    )
    def test_what_does_not_go_together_is_refused(self, options: dict[str, Any], said: str) -> None:
        with pytest.raises(ConfigError, match=said):
            made(**options)


class TestAClient:
    async def test_its_key_and_its_url_are_taken(self) -> None:
        client = genai.Client(api_key=SECRET, http_options={"headers": {"X-Team": "blue"}})
        target = await made(client=client).target()
        assert target.url == f"{GEMINI}.v1beta.GenerativeService.BidiGenerateContent"
        assert target.headers == {"x-goog-api-key": SECRET, "X-Team": "blue"}
        assert made(client=client.aio, base_url="http://localhost:1").url.startswith("ws://localhost:1/")

    def test_a_version_that_it_was_given_is_kept(self) -> None:
        client = genai.Client(api_key="k", http_options={"api_version": "v1alpha"})
        assert made(client=client).api_version == "v1alpha"

    async def test_its_project_and_credentials_are_taken(self) -> None:
        from google.auth.credentials import AnonymousCredentials

        credentials = AnonymousCredentials()
        client = genai.Client(vertexai=True, project="p", location="us-east5", credentials=credentials)
        endpoint = made(client=client)
        assert (endpoint.vertexai, endpoint.project, endpoint.location) == (True, "p", "us-east5")
        assert endpoint.url.startswith("wss://us-east5-aiplatform.googleapis.com/ws/")
        assert isinstance(endpoint.identity, GoogleCloud)

    def test_what_it_knows_is_not_said_again(self) -> None:
        client = genai.Client(api_key="k")
        for options in ({"api_key": "k"}, {"vertexai": False}, {"project": "p"}):
            with pytest.raises(ConfigError, match="pass only client="):
                made(client=client, **options)
        with pytest.raises(ConfigError, match="pass api_key= instead"):
            made(client=object())


class TestTheBaseUrl:
    @pytest.mark.parametrize(
        ("given", "dialled"),
        [
            ("http://localhost:80/", "ws://localhost:80"),
            ("https://gw.example", "wss://gw.example"),
            ("HTTPS://gw.example/a/b/", "wss://gw.example/a/b"),
            ("wss://gw.example/x?tenant=1#y", "wss://gw.example/x?tenant=1"),
        ],
    )
    def test_http_is_read_as_ws(self, given: str, dialled: str) -> None:
        assert websocket_url(given)[0] == dialled

    def test_a_path_is_a_prefix_and_a_whole_method_is_used_as_it_is(self) -> None:
        endpoint = made(api_key="k", base_url="https://gw.example/a?tenant=1")
        method = "ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
        assert endpoint.url == f"wss://gw.example/a/{method}?tenant=1"
        whole = "wss://gw.example/my/BidiGenerateContent"
        assert made(api_key="k", base_url=whole).url == whole
        assert made({"GOOGLE_GEMINI_BASE_URL": whole}, api_key="k").url == whole

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("localhost:8080", "http://127"),
            ("ftp://x", "not a URL"),
            ("http://[::1", "not a URL"),
            ("", "not a URL"),
            ("https://", "not a URL"),
            ("http://localhost:99999", "port"),
            ("http://gw.example", "unencrypted"),
            ("ws://10.0.0.1", "unencrypted"),
            (f"https://me:{SECRET}@gw.example", "user name"),
            (f"https://gw.example?key={SECRET}", "logs"),
        ],
    )
    def test_what_cannot_be_dialled_safely_is_refused(self, given: str, said: str) -> None:
        with pytest.raises(ConfigError, match=said) as caught:
            made(api_key="k", base_url=given)
        assert SECRET not in str(caught.value)

    def test_an_open_line_is_taken_when_asked_for(self) -> None:
        assert made(api_key="k", base_url="http://10.0.0.1", allow_insecure=True).url.startswith(
            "ws://10.0.0.1/ws/"
        )

    def test_this_machine_is_known_by_its_names(self) -> None:
        assert all(
            map(is_loopback, ("localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"))
        )
        assert not any(map(is_loopback, ("0.0.0.0", "10.0.0.1", "localhost.evil.example", "example.com")))


class TestSecrets:
    def test_no_repr_shows_one(self) -> None:
        shown = repr([made(api_key=SECRET), Keyed(SECRET), made(api_key=SECRET).identity])
        assert SECRET not in shown

    async def test_a_target_shows_none(self) -> None:
        assert SECRET not in repr(await made(api_key=SECRET).target())


def test_no_key_names_the_variables_and_the_fake_that_needs_none():
    with pytest.raises(ConfigError, match=r"GEMINI_API_KEY.*aistudio\.google\.com.*`livetools serve`"):
        resolve(Given(), environ={})
