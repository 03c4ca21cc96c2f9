// Print what a worker's browser fetches before work can begin. Every build runs this, and fails if it is too much.
// The compressed files stay beside the others, for servers that run without collectstatic.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT_BYTES = 60_000;
const LIMIT_REQUESTS = 5;
const PAGE_BYTES = 12_000; // allowed for the HTML with ten dialogs

const here = (path) => new URL(path, import.meta.url);
const templates = ["base", "hit"].map((name) => readFileSync(here(`templates/work/${name}.html`), "utf8")).join("");
const files = [...templates.matchAll(/\{% static '([^']+)' %\}/g)].map(([, name]) => name);
const script = readFileSync(here("dist/worker.js"), "utf8");
const parts = [...script.matchAll(/import\s*\(\s*["'`]\.\/([^"'`]+)["'`]\s*\)/g)].map(([, name]) => name);
const needed = [...script.matchAll(/(?:import|from)\s*["']([^"']+)["']/g)].map(([, name]) => name);

if (needed.length > 0) {
  fail(`worker.js needs further files to begin (${needed.join(", ")}); it must be one.`);
}
files.push(...new Set(parts)); // files that it loads after it has begun
const sizes = files.map((name) => {
  const compressed = gzipSync(readFileSync(here(`dist/${name}`)), { level: 9 });
  writeFileSync(here(`dist/${name}.gz`), compressed);
  return [name, compressed.length];
});
const total = sizes.reduce((sum, [, bytes]) => sum + bytes, PAGE_BYTES);
const requests = files.length + 1;
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
console.log(
  `The worker's page, gzipped: ${sizes.map(([name, bytes]) => `${name} ${kilobytes(bytes)}`).join(" + ")} + page ${kilobytes(PAGE_BYTES)} ` +
    `= ${kilobytes(total)} of ${kilobytes(LIMIT_BYTES)}; ${requests} of ${LIMIT_REQUESTS} requests.`,
);
if (total > LIMIT_BYTES || requests > LIMIT_REQUESTS) {
  fail("That is too much for a slow phone.");
}

function fail(reason) {
  console.error(`check_size: ${reason}`);
  process.exit(1);
}
