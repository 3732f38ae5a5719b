import type { Pong } from "./messages.js";
/** How well the connection to the relay carries a conversation; `lost`: it does not. */
export type Quality = "good" | "fair" | "poor" | "lost";
/** What a heartbeat needs of the client, and tells it. */
export interface Beating {
    ping(id: number): void;
    /** Milliseconds there and back, of the newest answer; more where it is still waited for. */
    measured(quality: Quality, milliseconds: number): void;
    /** No byte has come for too long: the connection is dead, though no socket says so. */
    silent(seconds: number): void;
}
/**
 * Watches the connection from `ready` on. The relay sends something at least every `interval` seconds; a page asks as
 * often how long the way is.
 */
export declare class Heartbeat {
    private readonly interval;
    private readonly beating;
    private readonly timer;
    private heard;
    private looked;
    private asked;
    private id;
    constructor(interval: number, beating: Beating);
    /** Record that a message of any type arrived. */
    sign(): void;
    /** The answer to a ping. */
    pong({ id }: Pong): void;
    stop(): void;
    private look;
    private sent;
    private due;
    private ask;
}
