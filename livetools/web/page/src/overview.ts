// All calls of the timeline as a bar chart in one line. The height of a bar shows how long its call took. When there are more
// calls than bars fit, a bar groups consecutive calls: it is as high as the longest and has the colour of the worst. A click
// on a bar opens the call.

import { byId, setAttribute } from "./dom.js";
import { duration, STATES } from "./format.js";
import { runs, type CallState, type Exchange, type Run } from "./state.js";

const FEW = 8; // calls that need no overview
const NARROWEST = 3; // pixels of a bar, with what is free beside it

/** From what a person must see to what is as it should be. */
const WORST: readonly CallState[] = ["failed", "refused", "lost", "approval", "answer", "cancelled", "running", "finished"];
const isWorse = (one: Run, other: Run): boolean => WORST.indexOf(one.state) < WORST.indexOf(other.state);

export class Overview {
  private readonly root = byId("overview");
  private exchanges: readonly Exchange[] = [];
  private bars: Run[][] = [];

  /** `find` is called with the call that a click is on. */
  constructor(find: (run: Run) => void) {
    this.root.addEventListener("click", ({ clientX }) => {
      const place = [...this.root.children].findLastIndex((drawn) => drawn.getBoundingClientRect().left <= clientX);
      const bar = this.bars[Math.max(0, place)];
      if (bar !== undefined) find(worst(bar));
    });
    new ResizeObserver(() => this.update(this.exchanges, this.now)).observe(this.root);
  }

  private now = 0;

  update(exchanges: readonly Exchange[], now: number): void {
    this.exchanges = exchanges;
    this.now = now;
    const all = exchanges.flatMap(runs);
    this.root.hidden = all.length < FEW;
    if (this.root.hidden) return;
    const room = Math.max(1, Math.floor(this.root.clientWidth / NARROWEST));
    this.bars = grouped(all, Math.min(all.length, room));
    while (this.root.childElementCount > this.bars.length) this.root.lastElementChild?.remove();
    while (this.root.childElementCount < this.bars.length) this.root.append(document.createElement("i"));
    const took = this.bars.map((bar) => Math.max(...bar.map((run) => Math.max(0, (run.ended ?? now) - run.began))));
    const most = Math.max(...took, 0.01);
    for (const [n, bar] of this.bars.entries()) {
      const drawn = this.root.children[n] as HTMLElement;
      setAttribute(drawn, "data-state", worst(bar).state);
      setAttribute(drawn, "title", told(bar, took[n]!));
      const height = `${Math.round((Math.log1p(took[n]! * 10) / Math.log1p(most * 10)) * 100)}%`;
      if (drawn.style.height !== height) drawn.style.height = height;
    }
  }
}

/** The runs in so many groups, in their order, each as large as another. */
function grouped(all: readonly Run[], groups: number): Run[][] {
  const at = (group: number): number => Math.floor((group * all.length) / groups);
  return Array.from({ length: groups }, (_, group) => all.slice(at(group), at(group + 1)));
}

const worst = (bar: readonly Run[]): Run => bar.reduce((one, other) => (isWorse(other, one) ? other : one));

function told(bar: readonly Run[], took: number): string {
  const { call, state } = worst(bar);
  const more = bar.length > 1 ? ` and ${bar.length - 1} more` : "";
  return `${call.name}${more}: ${STATES[state].word}, ${duration(took)}`;
}
