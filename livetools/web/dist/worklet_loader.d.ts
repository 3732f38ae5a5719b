/**
 * Load the audio worklet of the microphone into an audio context.
 *
 * `given` is the URL of the module. Without it, `worklet.js` beside this module is loaded, which a strict content security
 * policy allows. Bundlers do not keep that file: in a bundle, or if it cannot be loaded, the inlined text is loaded as a
 * blob, which the policy must allow (`script-src blob:`).
 */
export declare function loadWorklet(context: AudioContext, given: URL | null): Promise<void>;
