import { Video, type VideoKind } from "./video.js";

/** The event `video`: the camera or screen that the model sees, and why it was closed. */
export interface Seen {
  kind: VideoKind | null;
  stream: MediaStream | null;
  reason: string;
}

/** The camera or the screen that the model sees: one at a time. */
export class Pictures {
  private video: Video | null = null;
  private asked = 0; // the number of the newest wish; one that is older when its device comes does not count
  private device = "";

  constructor(
    private readonly send: (data: string) => void,
    private readonly tell: (seen: Seen) => void,
  ) {}

  /** Resolves with the stream, for a preview: one that has ended where it was closed before it began. */
  async open(kind: VideoKind): Promise<MediaStream> {
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

  close(reason = ""): void {
    this.asked++;
    const { video } = this;
    if (video === null) return;
    this.video = null;
    video.stop();
    this.tell({ kind: null, stream: null, reason });
  }

  /** See with this camera from now on; `""`: the browser's choice. */
  async use(device: string): Promise<void> {
    const before = this.device;
    this.device = device;
    if (this.video?.kind !== "camera") return;
    try {
      await this.open("camera");
    } catch (error) {
      this.device = before;
      throw error;
    }
  }
}
