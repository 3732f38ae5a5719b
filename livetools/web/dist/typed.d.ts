import type { RelayMessage } from "./messages.js";
/** A typed turn that the relay has not accepted yet. */
export interface Typed {
    /** Its name between page and relay. */
    ref: string;
    text: string;
}
/** The typed turns in their order, until the relay has accepted or refused each. */
export declare class TypedTurns {
    private waiting;
    private count;
    get all(): readonly Typed[];
    add(text: string): Typed;
    /** What became of one of them, by what the relay says; `null` if it says nothing of them. */
    settled(message: RelayMessage): Typed | null;
    /** All of them, which wait no longer. */
    clear(): Typed[];
    private remove;
}
