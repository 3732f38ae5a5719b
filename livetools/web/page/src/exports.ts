// What the page itself makes of the conversation.

import { NO_TRANSCRIPT } from "./conversation.js";
import { called, came, duration, stateOf } from "./format.js";
import type { Exchange, Item } from "./state.js";

/** Hand a text to the user as a file. */
export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** The conversation as Markdown: what was said, and each call with its end. */
export function transcriptOf(exchanges: readonly Exchange[], title: string): string {
  const turns = exchanges.map(
    ({ items }, n) => `## Turn ${n + 1}\n\n${items.map(written).filter(Boolean).join("\n\n")}\n`,
  );
  return `# ${title}\n\n${turns.join("\n")}`;
}

function written(item: Item): string {
  switch (item.kind) {
    case "message": {
      const who = { user: "You", model: "Model", thought: "Thought", code: "Code" }[item.role];
      const how = [item.voice ? "spoken" : "", item.interrupted ? "interrupted" : ""].filter(Boolean).join(", ");
      const text = item.role === "code" ? `\n\n\`\`\`\n${item.text}\n\`\`\`` : ` ${item.text || item.interim || NO_TRANSCRIPT}`;
      return `**${who}**${how ? ` (${how})` : ""}:${text}`;
    }
    case "note":
      return `*${item.text}*`;
    case "call": {
      const { run } = item;
      const took = run.ended === null ? "" : `, ${duration(run.ended - run.began)}`;
      const value = came(run);
      return `\`${called(run.call)}\`${value === "" ? "" : ` → ${value}`} (${stateOf(run)}${took})`;
    }
  }
}
