// Builds the modules: the worklet in one file, which is inlined in the client as well, then everything by the compiler.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { buildSync } from "esbuild";

const tsc = (project) => execFileSync("npx", ["--no-install", "tsc", "-p", project], { stdio: "inherit" });

tsc("tsconfig.worklet.json"); // its types; the module itself is bundled
buildSync({ entryPoints: ["src/worklet.ts"], outfile: "dist/worklet.js", bundle: true, format: "esm", target: "es2022", logLevel: "error" });
const worklet = JSON.stringify(readFileSync("dist/worklet.js", "utf8"));
writeFileSync(
  "src/inlined.ts",
  `// Made from worklet.ts by \`make web\`. Do not edit.\n\n/** The microphone's side of the audio thread, as the text of a module. */\nexport const WORKLET =\n  ${worklet};\n`,
);
tsc("tsconfig.json");
tsc("page/tsconfig.json");
