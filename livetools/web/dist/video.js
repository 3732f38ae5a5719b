import { exactly } from "./devices.js";
import { LiveError } from "./error.js";
import { release } from "./microphone.js";
const INTERVAL = 1000; // milliseconds between frames: the model looks at about one a second
const SIDE = 1024; // pixels of the longer side
const QUALITY = 0.75;
/** A camera or a screen that is on: one JPEG a second. `stream` is for a preview. */
export class Video {
    kind;
    stream;
    picture;
    seen;
    timer;
    canvas = document.createElement("canvas");
    busy = false;
    constructor(kind, stream, picture, seen) {
        this.kind = kind;
        this.stream = stream;
        this.picture = picture;
        this.seen = seen;
        this.timer = window.setInterval(() => void this.look(), INTERVAL);
    }
    /** Ask for it and switch it on; `device` is the browser's id of a camera (`""`: its choice). Rejects with a {@link LiveError} that says what to do. */
    static async start(kind, device, seen, lost) {
        const stream = await LiveError.about(kind, () => kind === "camera"
            ? navigator.mediaDevices.getUserMedia({ video: { width: { ideal: SIDE }, ...exactly(device) } })
            : navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { ideal: 5 } } }));
        for (const track of stream.getVideoTracks())
            track.onended = () => lost(`the ${kind} was switched off`);
        const picture = document.createElement("video");
        picture.muted = true;
        picture.playsInline = true;
        picture.srcObject = stream;
        try {
            await picture.play();
        }
        catch (error) {
            release(stream);
            throw new LiveError(`the ${kind} shows nothing`, { cause: error });
        }
        const video = new Video(kind, stream, picture, seen);
        void video.look();
        return video;
    }
    stop() {
        window.clearInterval(this.timer);
        release(this.stream);
        this.picture.srcObject = null;
    }
    async look() {
        const { videoWidth: width, videoHeight: height } = this.picture;
        if (width === 0 || this.busy)
            return;
        this.busy = true;
        try {
            const scale = Math.min(1, SIDE / Math.max(width, height));
            this.canvas.width = Math.round(width * scale);
            this.canvas.height = Math.round(height * scale);
            this.canvas.getContext("2d")?.drawImage(this.picture, 0, 0, this.canvas.width, this.canvas.height);
            const blob = await new Promise((resolve) => this.canvas.toBlob(resolve, "image/jpeg", QUALITY));
            if (blob !== null && this.stream.active)
                this.seen(await base64(blob));
        }
        finally {
            this.busy = false;
        }
    }
}
function base64(blob) {
    return new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result.split(",", 2)[1] ?? "");
        reader.onerror = () => reject(reader.error ?? new Error("a picture could not be read"));
        reader.readAsDataURL(blob);
    });
}
