/**
 * Make `button` one that is held while one speaks: with the mouse, a finger or a pen, with the space bar or Enter.
 *
 * It counts as let go when the pointer is lifted anywhere or taken away by the browser, when the key comes up, and when
 * nothing could tell that any more: the button or the window loses the focus, the page is hidden, the button is
 * disabled or removed. `aria-pressed` follows. Returns a function that removes all of it, and lets go.
 */
export function hold(button, actions) {
    const all = new AbortController();
    let held = null; // the listeners of one press
    const up = () => {
        if (held === null)
            return;
        held.abort();
        held = null;
        button.setAttribute("aria-pressed", "false");
        actions.up();
    };
    const down = (listen) => {
        if (held !== null || isDisabled(button))
            return;
        held = new AbortController();
        const { signal } = held;
        listen(signal);
        window.addEventListener("blur", up, { signal });
        button.addEventListener("blur", up, { signal });
        document.addEventListener("visibilitychange", () => document.hidden && up(), { signal });
        const changes = new MutationObserver(() => (isDisabled(button) || !button.isConnected) && up());
        changes.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["disabled", "aria-disabled"] });
        signal.addEventListener("abort", () => changes.disconnect());
        button.setAttribute("aria-pressed", "true");
        actions.down();
    };
    button.setAttribute("aria-pressed", "false");
    button.style.touchAction = "none"; // a finger that moves does not scroll, and so is not taken away
    button.style.userSelect = "none";
    const { signal } = all;
    button.addEventListener("pointerdown", (event) => {
        if (event.button !== 0 || !event.isPrimary)
            return;
        down((signal) => {
            const lifted = ({ pointerId }) => void (pointerId === event.pointerId && up());
            for (const sign of ["pointerup", "pointercancel"]) {
                window.addEventListener(sign, lifted, { signal, capture: true });
            }
            button.addEventListener("lostpointercapture", lifted, { signal });
            capture(button, event.pointerId);
        });
    }, { signal });
    button.addEventListener("keydown", (event) => {
        if (event.key !== " " && event.key !== "Enter")
            return;
        event.preventDefault();
        if (event.repeat)
            return;
        down((signal) => window.addEventListener("keyup", ({ key }) => key === event.key && up(), { signal, capture: true }));
    }, { signal });
    button.addEventListener("contextmenu", (event) => event.preventDefault(), { signal }); // of a long touch
    return () => {
        all.abort();
        up();
    };
}
const isDisabled = (button) => button.matches(":disabled, [aria-disabled='true']");
function capture(button, pointer) {
    try {
        button.setPointerCapture(pointer);
    }
    catch {
        // it was lifted already, or is a test's: the window's listeners are enough
    }
}
