/** What a button of push-to-talk does. `up` is called once for each `down`, whatever ended it. */
export interface HoldActions {
    down(): void;
    up(): void;
}
/**
 * Make `button` one that is held while one speaks: with the mouse, a finger or a pen, with the space bar or Enter.
 *
 * It counts as let go when the pointer is lifted anywhere or taken away by the browser, when the key comes up, and when
 * nothing could tell that any more: the button or the window loses the focus, the page is hidden, the button is
 * disabled or removed. `aria-pressed` follows. Returns a function that removes all of it, and lets go.
 */
export declare function hold(button: HTMLElement, actions: HoldActions): () => void;
