/**
 * Start an audio context. Browsers start none before the user did something on the page, and some machines have no
 * device that would drive it: then the promise of `resume()` stays open for ever. Rejects with a {@link LiveError}.
 */
export declare function running(context: AudioContext): Promise<void>;
