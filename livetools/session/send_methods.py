"""The verbs with which a user sends text, audio and video, and interrupts the model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from livetools.errors import ConfigError
from livetools.protocol.input.audio_format import pcm_bytes, same_rate
from livetools.protocol.input.image_format import image
from livetools.protocol.messages import outgoing
from livetools.session.running.session_driver import SessionDriver
from livetools.setup.config_fields import history

from .properties import SessionProperties, checked_text

if TYPE_CHECKING:
    from typing_extensions import Buffer  # typing's own from Python 3.12 on


class SendMethods(SessionProperties):
    """The verbs that send something. They are apart from the others, so that ``help(Session)`` fits on a page."""

    async def send_text(self, text: str) -> None:
        """Send a user turn. Returns when its frame is written to a socket; waits while there is no connection.

        The text is never lost: it is sent, or this raises the error that ended the session. Cancelling does not take it
        back. Inside a tool whose answer the text must wait for (the model waits for the tool, or a blocking call waits
        for its ``max_concurrency`` slot), it returns at once.
        """
        driver = self._live()
        checked_text(text)
        self._said(text)
        await self._sent(driver.machine.send_text(text, driver.clock.now()))

    async def generate_reply(self, instructions: str | None = None) -> None:
        """Make the model speak without a question from the user: a greeting, a reminder.

        It waits for a quiet moment: two seconds after the last word of either side, at most twenty, and never during
        the model's own turn. At the start of a session it does not wait. ``instructions`` (``"Greet the caller."``) are
        sent as a user turn, which the transcript does not hold. Without them an empty turn is sent to models that speak
        on one (3.8).

        Returns when it is written to a socket; what the model says comes as events. Cancelling takes it back while it
        still waits. Inside a tool whose answer it must wait for, it returns at once, as :meth:`send_text` does.

        ::

            async with connect(MODEL, tools=[...]) as session:
                await session.generate_reply("Greet the caller, and ask what you can do.")
        """
        if instructions is not None:
            checked_text(instructions)
        if instructions is not None and not instructions.strip():
            raise ConfigError("instructions is blank: say what the model should say, or leave it out")
        driver = self._live()
        receipt = driver.machine.generate_reply(instructions, driver.clock.now())
        try:
            await self._sent(receipt)
        # Unlike the user's own text it may be taken back: nothing is lost that somebody has said.
        except anyio.get_cancelled_exc_class():
            driver.machine.take_back(receipt)
            raise

    async def send_content(
        self,
        turns: Sequence[Mapping[str, Any]] | Mapping[str, Any],  # contents, as google-genai's
        turn_complete: bool = True,
    ) -> None:
        """Send turns (``{"role": ..., "parts": [...]}``, or google-genai's types). Returns as ``send_text`` does.

        Raises ``LocalProtocolError`` on models that accept content only before the first turn (3.1).
        """
        if not isinstance(turn_complete, bool):
            raise ConfigError(f"turn_complete={turn_complete!r:.40}: True or False is expected")
        driver = self._live()
        contents = list(history(turns if isinstance(turns, list | tuple) else [turns]))
        receipt = driver.machine.send_content(contents, turn_complete, driver.clock.now())
        self.transcript.user_content(contents)
        await self._sent(receipt)

    async def send_audio(self, pcm: Buffer, rate: int = 16000) -> None:
        """Send 16-bit little-endian mono PCM at ``rate`` Hz: bytes, or an array of int16. Chunks of 20 to 100 ms
        are best; they may be cut anywhere, even within a sample.

        Audio is never sent late. It is dropped, and reported by ``InputDropped``, while the model would close the
        session for it. While there is no connection, and where the line is slow, the newest 2 MiB of audio and video
        wait (as base64), and the oldest beyond that are dropped. On an open line a single chunk may be larger.

        Raises ``LocalProtocolError`` if ``rate`` changes, ``ConfigError`` for floats and everything else that is not
        16-bit PCM.
        """
        sound = pcm_bytes(pcm)
        if not (type(rate) is int and 0 < rate == self._rate):  # else it was checked before
            rate = self._rate = same_rate(rate, self._rate)
        # A chunk may end within a sample; that byte goes with the next one.
        whole = self._samples.whole(sound)
        self._assembly.listeners.sound(whole, rate)
        driver = self._media(outgoing.audio(whole, rate) if whole else b"", "audio")
        if driver.has_more:  # fifty times a second and session: no coroutine more than it takes
            await driver.follow_up()

    async def send_video(self, jpeg: Buffer) -> None:
        """Send one frame of video, a JPEG (or PNG, or WebP); the model looks at about one a second.

        Raises ``ConfigError`` for another format, and for raw pixels: the service would close the session.
        """
        await self._media(outgoing.video(*image(jpeg)), "video").follow_up()

    async def end_audio(self) -> None:
        """Say that the microphone is off: the model answers what was sent. More audio may follow later.

        3.8 ends a user's turn only by silence, so one second of silence is sent there.

        Raises ``LocalProtocolError`` if the config turns automatic activity detection off: then the end of an
        :meth:`activity` block does this.
        """
        driver = self._live()
        driver.machine.end_audio(driver.clock.now(), self._rate)
        self._samples.clear()
        await driver.follow()

    @asynccontextmanager
    async def activity(self) -> AsyncIterator[None]:
        """Push-to-talk: the user speaks inside the block. The config must turn automatic detection off.

        When the block ends, in whatever way, the model answers what was said in it. The activity begins with the first
        audio (on 3.1 also with a text); a block without any sends nothing. Audio outside a block is dropped, and
        reported by ``InputDropped``. On 3.1 a text inside the block is a part of the activity; elsewhere it is sent
        after its end.

        Raises ``LocalProtocolError`` if detection is automatic, and inside another activity.
        """
        driver = self._live()
        driver.machine.activity(True, driver.clock.now())
        await driver.follow()
        try:
            yield
        finally:
            driver.machine.activity(False, driver.clock.now())
            self._samples.clear()
            await driver.follow()

    async def interrupt(self) -> None:
        """Stop the model's turn; ``Interrupted`` follows. Calls continue: only the service cancels them.

        3.8 gets a message, and stops; 2.5 gets one, and may finish its turn first. 3.1 can only be cut off by speech:
        nothing is sent there, and it generates its turn to the end. On every model the rest of that turn is withheld
        from the events and from an ``ask``. Does nothing while no turn of the model is expected.
        """
        driver = self._live()
        driver.machine.interrupt(driver.clock.now())
        await driver.follow()

    def _media(self, frame: bytes, kind: str) -> SessionDriver:
        driver = self._live()
        # Less than one sample makes no frame.
        if frame:
            driver.media(frame, kind)
        return driver
