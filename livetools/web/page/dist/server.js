// What the page asks of its server beside the session itself, in the name of that session.
export class Server {
    token;
    /** `token` is that of the page's session. */
    constructor(token) {
        this.token = token;
    }
    /** What the server knows before a session is open. */
    async facts() {
        return await this.json("/facts.json");
    }
    async told() {
        return await this.json("/session.json");
    }
    async frames({ id, name }) {
        return await this.json(`/frames?${new URLSearchParams({ id, name })}`);
    }
    async exported(kind) {
        return await (await this.ask(`/export/${kind}`)).text();
    }
    /** What was said before the page's session began. */
    async past() {
        return await this.json("/past");
    }
    async sessions() {
        return await this.json("/sessions.json");
    }
    /** The token that resumes a listed session, or `null` if the service cannot resume it. */
    async open(id) {
        return (await this.json(`/sessions/${id}/open`, { method: "POST" })).token;
    }
    /** Add the page's session to this listed one: they become one entry of the list. */
    async join(id) {
        await this.ask(`/sessions/${id}/join`, { method: "POST" });
    }
    async delete(id) {
        await this.ask(`/sessions/${id}`, { method: "DELETE" });
    }
    /** A key for these choices, which the page's next session names. */
    async choose(choices) {
        return (await this.json("/choices", { method: "POST", body: JSON.stringify(choices) })).key;
    }
    /** The recording of `--replay`, or the one in a file. */
    async recording(file) {
        if (file === undefined)
            return await this.json("/replay");
        return { ...(await this.json("/recording", { method: "POST", body: file })), name: file.name };
    }
    async json(path, options = {}) {
        return (await (await this.ask(path, options)).json());
    }
    async ask(path, options = {}) {
        const answer = await fetch(path, { ...options, headers: { "livetools-session": this.token() } });
        if (!answer.ok)
            throw new Error(await answer.text());
        return answer;
    }
}
