// A scrolled side of the page, which follows its end while its end is in sight.

import { byId, List, type View } from "./dom.js";
import type { Exchange } from "./state.js";

const NEAR = 80; // pixels from the end within which a side follows what is new

export class Side {
  private readonly scroll: HTMLElement;
  private readonly empty: HTMLElement;
  private readonly list: List<Exchange>;
  private follows = true;
  private top = 0; // when it last scrolled

  constructor(name: string, make: (exchange: Exchange) => View<Exchange>) {
    this.scroll = byId(`${name}-scroll`);
    this.scroll.addEventListener("scroll", () => this.scrolled());
    new ResizeObserver(() => this.follow()).observe(this.scroll); // a keyboard opens, a phone is turned
    this.empty = byId(`${name}-empty`);
    this.list = new List(byId(name), make);
  }

  /** `more`: something is shown beside the exchanges. */
  update(exchanges: readonly Exchange[], now: number, more = false): void {
    this.empty.hidden = exchanges.length > 0 || more;
    this.list.update(exchanges, now);
    this.follow();
  }

  /** Something was scrolled to because it was asked for: stay there, unless that is the end. */
  stay(): void {
    this.follows = this.atEnd;
  }

  /** Stop following when the user scrolls up, and follow again at the end. New content alone changes nothing. */
  private scrolled(): void {
    const { scrollTop } = this.scroll;
    if (scrollTop < this.top || this.atEnd) this.follows = this.atEnd;
    this.top = scrollTop;
  }

  private get atEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.scroll;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  private follow(): void {
    if (this.follows) this.scroll.scrollTop = this.scroll.scrollHeight;
  }
}
