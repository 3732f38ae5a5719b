import { Video } from "./video.js";
/** The camera or the screen that the model sees: one at a time. */
export class Pictures {
    send;
    tell;
    video = null;
    asked = 0; // the number of the newest wish; one that is older when its device comes does not count
    device = "";
    constructor(send, tell) {
        this.send = send;
        this.tell = tell;
    }
    /** Resolves with the stream, for a preview: one that has ended where it was closed before it began. */
    async open(kind) {
        this.close();
        const wish = ++this.asked;
        const video = await Video.start(kind, kind === "camera" ? this.device : "", this.send, (reason) => this.close(reason));
        if (wish !== this.asked) {
            video.stop();
            return video.stream;
        }
        this.video = video;
        this.tell({ kind, stream: video.stream, reason: "" });
        return video.stream;
    }
    close(reason = "") {
        this.asked++;
        const { video } = this;
        if (video === null)
            return;
        this.video = null;
        video.stop();
        this.tell({ kind: null, stream: null, reason });
    }
    /** See with this camera from now on; `""`: the browser's choice. */
    async use(device) {
        const before = this.device;
        this.device = device;
        if (this.video?.kind !== "camera")
            return;
        try {
            await this.open("camera");
        }
        catch (error) {
            this.device = before;
            throw error;
        }
    }
}
