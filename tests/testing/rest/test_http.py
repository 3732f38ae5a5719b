"""Just enough HTTP."""

from __future__ import annotations

import pytest

from livetools.testing.rest.http import HttpError, error, read_request

pytestmark = pytest.mark.anyio


class Pieces:
    """A stream that gives its bytes one by one."""

    def __init__(self, data):
        self.data, self.sent = data, b""

    async def receive(self, max_bytes=65536):
        piece, self.data = self.data[:1], self.data[1:]
        return piece

    async def send(self, data):
        self.sent += data


async def test_a_request_is_read_however_it_is_cut():
    head = b"POST //v1/models/a%3Ab?key=1&key=2&alt= HTTP/1.1\r\nX-Goog-Api-Key:  k \r\nContent-Length: 5\r\n\r\nhe"
    request = await read_request(Pieces(b"llo and more"), head)
    assert (request.method, request.path, request.body) == ("POST", "/v1/models/a:b", b"hello")
    assert request.query == {"key": "2", "alt": ""}
    assert request.headers["x-goog-api-key"] == "k"


async def test_chunks_are_joined():
    stream = Pieces(b"3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n")
    request = await read_request(
        stream, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-Continue\r\n\r\n"
    )
    assert request.body == b"abc0123456789"
    assert stream.sent == b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_an_error_with_a_status(head):
    with pytest.raises(HttpError) as caught:
        await read_request(Pieces(b""), head)
    assert caught.value.status in (400, 413)


def test_an_error_is_worded_as_the_service_words_one():
    assert error(404, "no").body == {"error": {"code": 404, "message": "no", "status": "NOT_FOUND"}}
