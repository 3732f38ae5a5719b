/**
 * Give an audio context the microphone's side of the audio thread.
 *
 * Without `given`, the module beside this one is taken where this one was not bundled: a strict policy allows it. In a
 * bundle there is none, and the inlined text is loaded as a blob, which a policy has to allow (`script-src blob:`).
 */
export declare function loadWorklet(context: AudioContext, given: URL | null): Promise<void>;
