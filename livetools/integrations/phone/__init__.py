"""The parts of ``integrations.telephony``: a provider's frames, its codecs, what a caller hears."""
