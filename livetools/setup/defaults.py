"""The defaults of the options of ``connect`` and of tools that are numbers or words.

Every signature and field that has such an option reads them.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

ReplyFormat: TypeAlias = Literal["tool_response", "client_content"]
ReplyBatching: TypeAlias = Literal["each", "batch"]
LostResults: TypeAlias = Literal["deliver", "drop"]

#: How results are sent.
REPLY_FORMAT: Final[ReplyFormat] = "tool_response"
#: Whether each call is answered by itself, or the calls of a message together.
REPLY_BATCHING: Final[ReplyBatching] = "each"
#: The key of a response that holds what a tool returned.
RESPONSE_KEY: Final = "output"
#: Handlers that run at once in a session.
MAX_CONCURRENCY: Final = 64
#: Seconds until a call is answered with `timed out`, unless the tool sets its own timeout.
TOOL_TIMEOUT: Final = 60.0
#: Seconds until an approval that nobody gives is a refusal.
APPROVAL_TIMEOUT: Final = 60.0
#: What happens to a result whose connection is lost.
LOST_RESULTS: Final[LostResults] = "deliver"
#: Seconds from dialling to a session.
SETUP_TIMEOUT: Final = 10.0
#: Seconds of silence after which livetools stops waiting for the model's turn.
STALL_TIMEOUT: Final = 20.0
#: Whether input is dropped while a blocking call is open: as the profile of the model says.
INPUT_GATE: Final = "auto"
