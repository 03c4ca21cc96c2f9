// Do what CONTRIBUTING.md says about a protocol's page, in a copy of this folder: it must pass the compiler and be built.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const FRONTEND = new URL("..", import.meta.url).pathname;
const section = readFileSync(join(FRONTEND, "../CONTRIBUTING.md"), "utf8").split(/^## /m).find((one) => one.startsWith("A protocol\n"));
const blocks = (language) => [...section.matchAll(new RegExp("```" + language + "\\n([^]*?)```", "g"))].map(([, text]) => text);

const root = mkdtempSync(join(tmpdir(), "guide-"));
const copy = join(root, "frontend");
const inCopy = (name) => join(copy, name);

beforeAll(() => {
  for (const name of ["src", "tests", "public", "tsconfig.json", "vite.config.ts", "package.json"]) {
    cpSync(join(FRONTEND, name), inCopy(name), { recursive: true });
  }
  symlinkSync(join(FRONTEND, "node_modules"), inCopy("node_modules"));
});

afterAll(() => rmSync(root, { recursive: true }));

function change(name, edit) {
  const before = readFileSync(inCopy(name), "utf8");
  const after = edit(before);
  expect(after).not.toBe(before);
  writeFileSync(inCopy(name), after);
}

function run(script, ...words) {
  return execFileSync(process.execPath, [inCopy(`node_modules/${script}`), ...words], { cwd: copy, encoding: "utf8" });
}

test("the guide's files and lines make a page that knows the protocol", { timeout: 120_000 }, () => {
  const [command] = blocks("sh");
  const [importLine, entry] = blocks("ts")[0].trimEnd().split("\n\n");
  const [styles, styleLine] = blocks("css");

  execFileSync("sh", ["-c", command], { cwd: root });
  change("src/worker/protocols/registry.ts", (text) =>
    text.replace("\n\nconst PROTOCOLS", `\n${importLine}\n\nconst PROTOCOLS`).replace("\n};", `\n${entry}\n};`),
  );
  writeFileSync(inCopy("src/styles/worker/thumbs.css"), styles);
  change("src/styles/worker.css", (text) => text.replace('@import "./worker/areas/areas.css"', `${styleLine}@import "./worker/areas/areas.css"`));
  run("typescript/bin/tsc", "--noEmit");
  run("vite/bin/vite.js", "build", "--logLevel", "error");

  expect(readFileSync(inCopy("dist/worker.js"), "utf8")).toContain("each reply gets a thumb");
  expect(readFileSync(inCopy("dist/worker.css"), "utf8")).toContain(".thumbs{");
});
