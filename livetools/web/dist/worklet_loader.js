import { LiveError } from "./error.js";
import { WORKLET } from "./inlined.js";
/**
 * Load the audio worklet of the microphone into an audio context.
 *
 * `given` is the URL of the module. Without it, `worklet.js` beside this module is loaded, which a strict content security
 * policy allows. Bundlers do not keep that file: in a bundle, or if it cannot be loaded, the inlined text is loaded as a
 * blob, which the policy must allow (`script-src blob:`).
 */
export async function loadWorklet(context, given) {
    const url = given ?? beside();
    try {
        if (url !== null)
            return await context.audioWorklet.addModule(url);
    }
    catch (error) {
        if (given !== null)
            throw new LiveError(`the microphone's module could not be loaded from ${given.href}`, { cause: error });
    }
    const blob = URL.createObjectURL(new Blob([WORKLET], { type: "text/javascript" }));
    try {
        await context.audioWorklet.addModule(blob);
    }
    catch (error) {
        throw new LiveError("the page's content security policy lets no inlined module in: serve worklet.js from the page's own site, and pass its URL as `worklet`", { cause: error });
    }
    finally {
        URL.revokeObjectURL(blob);
    }
}
/** `worklet.js` beside this module, while this is a module of its own. */
function beside() {
    const here = import.meta.url; // a bundle that is no module has none
    const name = "worklet_loader.js";
    return here?.endsWith(`/${name}`) ? new URL(`${here.slice(0, -name.length)}worklet.js`) : null;
}
