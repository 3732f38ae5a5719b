"""``generateContent`` on the same pretend model, on the same port."""
