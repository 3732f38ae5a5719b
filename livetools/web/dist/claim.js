const PATIENCE = 1000; // milliseconds in which a page that reloads has let go of what it held
/**
 * Holds a session's token for this page alone. A tab that is duplicated has a copy of the other's storage, and so its
 * token: with it, it would take the session away from the tab that is in use.
 *
 * Where a browser has no locks (plain http that is not localhost) every page gets what it asks for.
 */
export class Claim {
    token = null;
    release = () => { };
    /** Whether the token is this page's: held by it already, or by no other page of the browser. */
    async take(token) {
        if (this.token === token || navigator.locks === undefined)
            return true;
        this.drop();
        const patience = AbortSignal.timeout(PATIENCE);
        return await new Promise((resolve) => {
            const held = () => {
                this.token = token;
                resolve(true);
                return new Promise((done) => (this.release = done));
            };
            navigator.locks.request(`livetools ${token}`, { signal: patience }, held).catch(() => resolve(false));
        });
    }
    /** Another page may have it. */
    drop() {
        this.release();
        this.token = null;
        this.release = () => { };
    }
}
