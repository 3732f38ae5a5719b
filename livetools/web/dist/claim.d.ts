/**
 * Holds a session's token for this page alone. A tab that is duplicated has a copy of the other's storage, and so its
 * token: with it, it would take the session away from the tab that is in use.
 *
 * Where a browser has no locks (plain http that is not localhost) every page gets what it asks for.
 */
export declare class Claim {
    private token;
    private release;
    /** Whether the token is this page's: held by it already, or by no other page of the browser. */
    take(token: string): Promise<boolean>;
    /** Another page may have it. */
    drop(): void;
}
