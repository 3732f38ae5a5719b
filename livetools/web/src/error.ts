/** What went wrong, in a sentence that a page can show. */
export class LiveError extends Error {
  override readonly name = "LiveError";

  /** Ask for a device, with the browser's reasons for a refusal put in words. */
  static async about<T>(device: string, ask: () => Promise<T>): Promise<T> {
    if (navigator.mediaDevices === undefined) {
      throw new LiveError(`a page is given no ${device} over plain http: serve it over https, or from localhost`);
    }
    try {
      return await ask();
    } catch (error) {
      throw new LiveError(sentence(device, error), { cause: error });
    }
  }
}

function sentence(device: string, error: unknown): string {
  switch (error instanceof DOMException ? error.name : "") {
    case "NotAllowedError":
    case "SecurityError":
      return `the ${device} was not allowed: allow it in the browser's settings for this page`;
    case "NotFoundError":
    case "OverconstrainedError":
      return `no ${device} was found`;
    case "NotReadableError":
    case "AbortError":
      return `the ${device} cannot be used: another program may have it`;
    default:
      return `the ${device} could not be switched on: ${String(error)}`;
  }
}
