/** A microphone, a speaker or a camera. */
export interface Device {
    /** The argument of `useMicrophone()`, `useSpeaker()` and `useCamera()`. Empty until the user allows such a device. */
    id: string;
    /** Its name for people; a number where the browser does not tell it. */
    label: string;
}
/** What a browser calls a kind of device, and what people do. */
export type DeviceKind = "microphone" | "speaker" | "camera";
/** The devices of a kind that the browser knows. Rejects with a {@link LiveError} where a page may not ask. */
export declare function devices(kind: DeviceKind): Promise<Device[]>;
/** Whether the device of a track can no longer be found: it was unplugged, and not merely switched off. */
export declare function isUnplugged(kind: DeviceKind, track: MediaStreamTrack): Promise<boolean>;
/** The constraint that asks for this device; none for `""`, the browser's own choice. */
export declare const exactly: (id: string) => MediaTrackConstraints;
