import { LiveError } from "./error.js";

/** A microphone, a speaker or a camera. */
export interface Device {
  /** The argument of `useMicrophone()`, `useSpeaker()` and `useCamera()`. Empty until the user allows such a device. */
  id: string;
  /** Its name for people; a number where the browser does not tell it. */
  label: string;
}

/** What a browser calls a kind of device, and what people do. */
export type DeviceKind = "microphone" | "speaker" | "camera";

const KINDS: Record<DeviceKind, MediaDeviceKind> = {
  microphone: "audioinput",
  speaker: "audiooutput",
  camera: "videoinput",
};

/** The devices of a kind that the browser knows. Rejects with a {@link LiveError} where a page may not ask. */
export async function devices(kind: DeviceKind): Promise<Device[]> {
  const all = await LiveError.about(kind, () => navigator.mediaDevices.enumerateDevices());
  return all
    .filter((device) => device.kind === KINDS[kind])
    .map(({ deviceId, label }, n) => ({ id: deviceId, label: label || `${kind} ${n + 1}` }));
}

/** Whether the device of a track can no longer be found: it was unplugged, and not merely switched off. */
export async function isUnplugged(kind: DeviceKind, track: MediaStreamTrack): Promise<boolean> {
  const { deviceId } = track.getSettings();
  if (deviceId === undefined) return false;
  const known = await devices(kind).catch(() => []);
  return known.length > 0 && !known.some(({ id }) => id === deviceId);
}

/** The constraint that asks for this device; none for `""`, the browser's own choice. */
export const exactly = (id: string): MediaTrackConstraints => (id === "" ? {} : { deviceId: { exact: id } });
