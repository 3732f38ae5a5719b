// A scrolled side of the page, which follows its end while its end is in sight.
import { byId, List } from "./dom.js";
const NEAR = 80; // pixels from the end within which a side follows what is new
export class Side {
    scroll;
    empty;
    list;
    follows = true;
    top = 0; // when it last scrolled
    constructor(name, make) {
        this.scroll = byId(`${name}-scroll`);
        this.scroll.addEventListener("scroll", () => this.scrolled());
        new ResizeObserver(() => this.follow()).observe(this.scroll); // a keyboard opens, a phone is turned
        this.empty = byId(`${name}-empty`);
        this.list = new List(byId(name), make);
    }
    /** `more`: something is shown beside the exchanges. */
    update(exchanges, now, more = false) {
        this.empty.hidden = exchanges.length > 0 || more;
        this.list.update(exchanges, now);
        this.follow();
    }
    /** Something was scrolled to because it was asked for: stay there, unless that is the end. */
    stay() {
        this.follows = this.atEnd;
    }
    /** Stop following when the user scrolls up, and follow again at the end. New content alone changes nothing. */
    scrolled() {
        const { scrollTop } = this.scroll;
        if (scrollTop < this.top || this.atEnd)
            this.follows = this.atEnd;
        this.top = scrollTop;
    }
    get atEnd() {
        const { scrollHeight, scrollTop, clientHeight } = this.scroll;
        return scrollHeight - scrollTop - clientHeight < NEAR;
    }
    follow() {
        if (this.follows)
            this.scroll.scrollTop = this.scroll.scrollHeight;
    }
}
