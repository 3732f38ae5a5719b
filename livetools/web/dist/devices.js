import { LiveError } from "./error.js";
const KINDS = {
    microphone: "audioinput",
    speaker: "audiooutput",
    camera: "videoinput",
};
/** The devices of a kind that the browser knows. Rejects with a {@link LiveError} where a page may not ask. */
export async function devices(kind) {
    const all = await LiveError.about(kind, () => navigator.mediaDevices.enumerateDevices());
    return all
        .filter((device) => device.kind === KINDS[kind])
        .map(({ deviceId, label }, n) => ({ id: deviceId, label: label || `${kind} ${n + 1}` }));
}
/** Whether the device of a track can no longer be found: it was unplugged, and not merely switched off. */
export async function isUnplugged(kind, track) {
    const { deviceId } = track.getSettings();
    if (deviceId === undefined)
        return false;
    const known = await devices(kind).catch(() => []);
    return known.length > 0 && !known.some(({ id }) => id === deviceId);
}
/** The constraint that asks for this device; none for `""`, the browser's own choice. */
export const exactly = (id) => (id === "" ? {} : { deviceId: { exact: id } });
