import { defineConfig } from "vite";

// Plain names: Django's static files storage adds the content hashes in production, so that templates name files once.
export default defineConfig({
  base: "/static/",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    rollupOptions: {
      input: { researcher: "src/researcher.ts", localturk: "src/localturk.ts", worker: "src/worker/main.ts" },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
