import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` serves the sources and hands calls to a running console: CONSOLE_URL.
const consoleUrl = process.env.CONSOLE_URL ?? "http://127.0.0.1:8090";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2023",
    manifest: true,
    // Vite inlines small files as data URLs, which the page's policy refuses for all but images.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    proxy: {
      "/api": consoleUrl,
      "/auth": consoleUrl,
    },
  },
});
