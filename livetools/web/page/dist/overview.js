// All calls of the timeline in one line, however many: a bar each, as high as it took long. A click goes to the call.
import { byId, setAttribute } from "./dom.js";
import { runs } from "./state.js";
import { idOf } from "./timeline.js";
const FEW = 8; // calls that need no overview
export class Overview {
    root = byId("overview");
    shown = [];
    constructor() {
        this.root.addEventListener("click", ({ clientX }) => {
            const { left, width } = this.root.getBoundingClientRect();
            const bars = [...this.root.children].findIndex((bar) => bar.getBoundingClientRect().right >= clientX);
            const place = bars < 0 ? this.shown.length - 1 : bars;
            const run = this.shown[width > 0 && clientX >= left ? place : 0];
            if (run !== undefined)
                document.getElementById(idOf(run))?.scrollIntoView({ block: "center" });
        });
    }
    update(exchanges, now) {
        this.shown = exchanges.flatMap(runs);
        this.root.hidden = this.shown.length < FEW;
        if (this.root.hidden)
            return;
        while (this.root.childElementCount > this.shown.length)
            this.root.lastElementChild?.remove();
        while (this.root.childElementCount < this.shown.length)
            this.root.append(document.createElement("i"));
        const took = this.shown.map((run) => Math.log1p(Math.max(0, (run.ended ?? now) - run.began) * 10));
        const most = Math.max(...took, 0.1);
        for (const [n, run] of this.shown.entries()) {
            const bar = this.root.children[n];
            setAttribute(bar, "data-state", run.state);
            const height = `${Math.round((took[n] / most) * 100)}%`;
            if (bar.style.height !== height)
                bar.style.height = height;
        }
    }
}
