"""Who dials, as the upgrade tells."""

from __future__ import annotations

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from livetools.testing.auth.client_identity import ClientIdentity, caller

GEMINI = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
VERTEX = "/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent"


@pytest.mark.parametrize(
    ("path", "who"),
    [
        (GEMINI, ClientIdentity(False, "v1beta", None)),
        (f"/proxied/{GEMINI}?key=k", ClientIdentity(False, "v1beta", "k")),
        (
            GEMINI.replace("v1beta", "v1alpha") + "Constrained?access_token=t",
            ClientIdentity(False, "v1alpha", "t"),
        ),
        (VERTEX, ClientIdentity(True, "v1", None)),
        ("/", ClientIdentity(True, "v1beta1", None)),
        ("/elsewhere", None),
        ("http://[::1", None),
    ],
)
def test_the_path_tells_the_endpoint_and_its_version(path, who):
    assert caller(Request(path, Headers())) == who


@pytest.mark.parametrize(
    ("headers", "credential"),
    [
        ([("x-goog-api-key", "k"), ("Authorization", "Bearer t")], "k"),
        ([("Authorization", "Bearer t")], "t"),
        ([("x-goog-api-key", "old"), ("X-Goog-Api-Key", "new")], "new"),
        ([("Authorization", "Bearer a"), ("authorization", "Bearer b")], "b"),
    ],
)
def test_a_header_that_comes_twice_counts_once(headers, credential):
    assert caller(Request(GEMINI, Headers(headers))) == ClientIdentity(False, "v1beta", credential)
