/**
 * Start an audio context. Rejects with a {@link LiveError} if it does not start in time. `resume()` stays pending
 * until the user interacts with the page, and never settles on some machines without an audio device.
 */
export declare function running(context: AudioContext): Promise<void>;
