import { LiveError } from "./error.js";

const PATIENCE = 2000; // milliseconds

/**
 * Start an audio context. Rejects with a {@link LiveError} if it does not start in time. `resume()` stays pending
 * until the user interacts with the page, and never settles on some machines without an audio device.
 */
export async function running(context: AudioContext): Promise<void> {
  if (context.state === "running") return;
  let timer = 0;
  const late = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => reject(new LiveError(NOT_STARTED)), PATIENCE);
  });
  try {
    await Promise.race([context.resume(), late]);
  } finally {
    window.clearTimeout(timer);
  }
}

const NOT_STARTED =
  "the browser does not start its audio: click on the page and try again; if that does not help, this machine may have no audio device";
