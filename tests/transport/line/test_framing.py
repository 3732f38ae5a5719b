"""The frames that are cut here, held against the parser of ``websockets``."""

from __future__ import annotations

import itertools
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from livetools.transport.line.framing import TEXT, Cutter, Piece, frame

BOUND = 70_000


def theirs(
    stream: bytes, bound: int | None = BOUND
) -> tuple[list[bytes], list[tuple[int, bytes]], int | None]:
    """What websockets makes of it: messages, control frames, and the code that it closes with."""
    parser = Protocol(Side.CLIENT, max_size=bound)
    parser.receive_data(stream)
    return read(parser, [])


def read(parser: Protocol, messages: list[bytes]) -> tuple[list[bytes], list[tuple[int, bytes]], int | None]:
    controls, parts = [], b""
    for event in parser.events_received():
        assert isinstance(event, Frame)
        if event.opcode >= Opcode.CLOSE:
            controls.append((int(event.opcode), bytes(event.data)))
            continue
        parts += bytes(event.data)
        if event.fin:
            messages.append(parts)
            parts = b""
    return messages, controls, code(parser)


def code(parser: Protocol) -> int | None:
    """The code of the close that this side began."""
    return None if parser.close_sent is None or parser.close_rcvd is not None else parser.close_sent.code


def ours(
    stream: bytes, cuts: list[int], bound: int | None = BOUND
) -> tuple[list[bytes], list[tuple[int, bytes]], int | None]:
    """The same, with whole messages cut here and the rest given to the parser, from a stream that comes in pieces."""
    cutter, parser = Cutter(bound), Protocol(Side.CLIENT, max_size=bound)
    messages: list[bytes] = []
    controls: list[tuple[int, bytes]] = []
    parts = b""
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    for begin, end in itertools.pairwise(places):
        cutter.add(stream[begin:end])
        while True:
            item = cutter.next()
            if item is None:
                break
            if type(item) is bytes:
                messages.append(item)
                continue
            assert type(item) is Piece
            parser.receive_data(item)
            for event in parser.events_received():
                assert isinstance(event, Frame)
                if event.opcode >= Opcode.CLOSE:
                    controls.append((int(event.opcode), bytes(event.data)))
                    continue
                parts += bytes(event.data)
                if event.fin:
                    messages.append(parts)
                    parts = b""
            if parser.close_sent is not None:
                return messages, controls, code(parser)
    return messages, controls, code(parser)


def raw(first: int, second: int, data: bytes, size: int | None = None) -> bytes:
    """A frame of a server's, lawful or not: its first byte, the bits of its second above the length, its payload."""
    length = len(data) if size is None else size
    if length < 126:
        return bytes([first, second | length]) + data
    if length < 65536:
        return bytes([first, second | 126]) + length.to_bytes(2, "big") + data
    return bytes([first, second | 127]) + length.to_bytes(8, "big") + data


PAYLOAD = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([0, 1, 125, 126, 127, 65_535, 65_536, 70_000, 70_001]).map(bytes),
)
LAWFUL = st.one_of(
    st.builds(raw, st.sampled_from([0x81, 0x82]), st.just(0), PAYLOAD),
    st.builds(raw, st.sampled_from([0x01, 0x02, 0x00, 0x80]), st.just(0), PAYLOAD),
    st.builds(raw, st.sampled_from([0x89, 0x8A]), st.just(0), st.binary(max_size=125)),
    st.sampled_from([b"", b"\x03\xe8", b"\x03\xe8bye", b"\x03", b"\x00\x00", b"\x03\xe8\xff"]).map(
        lambda data: raw(0x88, 0, data)
    ),
)
ANY = st.builds(raw, st.integers(0, 255), st.sampled_from([0, 0, 0, 0x80]), PAYLOAD)
STREAM = st.lists(st.one_of(LAWFUL, LAWFUL, LAWFUL, ANY), max_size=8).map(b"".join)


@given(STREAM, st.lists(st.integers(0, 10**6), max_size=12))
def test_messages_controls_and_refusals_are_those_of_websockets(stream: bytes, cuts: list[int]) -> None:
    messages, controls, closed = ours(stream, cuts)
    assert (messages, controls, closed) == theirs(stream)


@given(STREAM)
def test_where_a_stream_is_cut_makes_no_difference(stream: bytes) -> None:
    assert ours(stream, []) == ours(stream, list(range(min(len(stream), 300))))


UNLAWFUL = {
    "a reserved bit": b"\xc1\x00",
    "an opcode that does not exist": b"\x83\x00",
    "one of a control frame that is still to come": b"\x8b\x7d",
    "a control frame that does not end": b"\x09\x00",
    "a continuation of nothing": b"\x80\x00",
    "a mask": b"\x81\xff",
    "a text inside of another": b"\x01\x01a\x81\x00",
}


@pytest.mark.parametrize("kind", UNLAWFUL)
def test_what_is_unlawful_is_handed_on_and_refused(kind: str) -> None:
    assert ours(UNLAWFUL[kind], [])[2] == 1002


@pytest.mark.parametrize("head", [b"\x82\x7f" + (2**40).to_bytes(8, "big"), b"\x01\x7e\xff\xff"])
def test_a_message_past_the_bound_is_refused_at_its_header(head: bytes) -> None:
    assert ours(head, [], 60_000)[2] == 1009


def test_a_small_message_past_a_small_bound_is_refused_too() -> None:
    assert ours(b"\x82\x14", [], 10)[2] == 1009


def test_a_large_message_in_many_reads_is_not_copied_for_each() -> None:
    cutter, size, reads = Cutter(None), 64 * 2**20, 1024
    cutter.add(b"\x82\x7f" + size.to_bytes(8, "big"))
    for _ in range(reads):
        assert cutter.next() is None
        cutter.add(bytes(size // reads))
    assert len(cutter.next() or b"") == size
    assert cutter.next() is None


@given(st.binary(max_size=200) | st.sampled_from([125, 126, 65_535, 65_536]).map(bytes))
def test_a_frame_of_ours_is_read_by_a_server(data: bytes) -> None:
    server = Protocol(Side.SERVER)
    server.receive_data(frame(TEXT, data))
    (event,) = server.events_received()
    assert isinstance(event, Frame)
    assert (event.opcode, bytes(event.data), event.fin) == (Opcode.TEXT, data, True)


def test_every_frame_has_a_mask_of_its_own() -> None:
    assert len({frame(TEXT, b"")[-4:] for _ in range(100)}) > 97


def test_what_was_given_away_is_not_kept_until_more_comes() -> None:
    cutter, message = Cutter(BOUND), Frame(Opcode.TEXT, b"x" * 50_000).serialize(mask=False)
    before = sys.getrefcount(read := message * 2)
    cutter.add(read)
    while cutter.data:
        assert cutter.next() is not None
    assert sys.getrefcount(read) == before
