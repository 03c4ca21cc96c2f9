import { defineConfig } from "vite";

// Plain names: Django's static files storage adds the content hashes in production, so that templates name files once.
// A script that another one loads has its hash from here: it is named in that one, not in a template.
export default defineConfig({
  base: "/static/",
  build: {
    outDir: "dist",
    // As docs/working.md says, and as the worker's page checks at the door (main.ts).
    target: ["chrome111", "edge111", "firefox114", "safari16.4"],
    emptyOutDir: true,
    rollupOptions: {
      input: { researcher: "src/researcher.ts", localturk: "src/localturk.ts", worker: "src/worker/main.ts" },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js", assetFileNames: "[name][extname]" },
    },
  },
});
