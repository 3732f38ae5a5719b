// Made from the Python classes by `make web`. Do not edit.
export const PROTOCOL = "livetools.v1";
export const RESUME = "livetools.resume";
export const INPUT_RATE = 16000;
export const OUTPUT_RATE = 24000;
export const MAX_TEXT = 65536;
