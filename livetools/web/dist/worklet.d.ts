/** The microphone's side of the audio thread: what it hears, at the relay's rate, in messages of 40 ms. */
export {};
