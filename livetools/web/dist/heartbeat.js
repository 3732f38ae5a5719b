const GOOD = 300; // milliseconds there and back within which nobody notices the way
const FAIR = 1000;
const SILENCE = 2.4; // times the relay's own interval: then even a late sign of life has had its time
/**
 * Watches the connection from `ready` on. The relay sends something at least every `interval` seconds; a page asks as
 * often how long the way is.
 */
export class Heartbeat {
    interval;
    beating;
    timer;
    heard = performance.now();
    looked = performance.now();
    asked = null; // when the ping that is not answered went out
    id = 0;
    constructor(interval, beating) {
        this.interval = interval;
        this.beating = beating;
        this.timer = window.setInterval(() => this.look(), (interval * 1000) / 5);
        this.ask();
    }
    /** Record that a message of any type arrived. */
    sign() {
        this.heard = performance.now();
    }
    /** The answer to a ping. */
    pong({ id }) {
        if (id !== this.id || this.asked === null)
            return;
        const milliseconds = performance.now() - this.asked;
        this.asked = null;
        this.beating.measured(milliseconds <= GOOD ? "good" : milliseconds <= FAIR ? "fair" : "poor", milliseconds);
    }
    stop() {
        window.clearInterval(this.timer);
    }
    look() {
        const now = performance.now();
        const gap = now - this.looked;
        this.looked = now;
        if (gap > this.interval * 1000) {
            // the page was frozen, or the machine slept: messages that arrived meanwhile are handled after this
            this.heard = Math.max(this.heard, now - this.interval * 1000);
            return;
        }
        const silence = (now - this.heard) / 1000;
        if (silence > this.interval * SILENCE)
            return this.beating.silent(silence);
        const waited = this.asked === null ? 0 : now - this.asked;
        if (waited > FAIR)
            this.beating.measured("poor", waited);
        if (this.asked === null && this.due(now))
            this.ask();
    }
    sent = 0;
    due(now) {
        return now - this.sent >= this.interval * 1000;
    }
    ask() {
        this.asked = this.sent = performance.now();
        this.beating.ping(++this.id);
    }
}
