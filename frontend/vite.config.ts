import { defineConfig } from "vite";

// Files have plain names: Django's static files storage adds content hashes in production, so templates name them once.
// A script that another one loads gets its hash here, because it is named in that script, not in a template.
export default defineConfig({
  base: "/static/",
  build: {
    outDir: "dist",
    // docs/working.md names the same browsers, and the worker's page checks them when it starts (main.ts).
    target: ["chrome111", "edge111", "firefox114", "safari16.4"],
    emptyOutDir: true,
    rollupOptions: {
      input: { researcher: "src/researcher.ts", localturk: "src/localturk.ts", localprolific: "src/styles/localprolific.css", worker: "src/worker/main.ts" },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js", assetFileNames: "[name][extname]" },
    },
  },
});
