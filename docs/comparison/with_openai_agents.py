"""openai-agents has no model for Gemini Live: print which realtime models it has."""

import agents.realtime

models = [name for name in dir(agents.realtime) if name.endswith("Model") and name != "RealtimeModel"]
if not any("Gemini" in name or "Google" in name for name in models):
    print(f"no model for Gemini Live, only {' and '.join(models)}")
