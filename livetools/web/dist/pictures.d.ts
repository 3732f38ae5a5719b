import { type VideoKind } from "./video.js";
/** The event `video`: the camera or screen that the model sees, and why it was closed. */
export interface Seen {
    kind: VideoKind | null;
    stream: MediaStream | null;
    reason: string;
}
/** The camera or the screen that the model sees: one at a time. */
export declare class Pictures {
    private readonly send;
    private readonly tell;
    private video;
    private asked;
    private device;
    constructor(send: (data: string) => void, tell: (seen: Seen) => void);
    /** Resolves with the stream, for a preview: one that has ended where it was closed before it began. */
    open(kind: VideoKind): Promise<MediaStream>;
    close(reason?: string): void;
    /** See with this camera from now on; `""`: the browser's choice. */
    use(device: string): Promise<void>;
}
