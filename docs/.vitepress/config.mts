import { defineConfig } from "vitepress";
import { linkRepositoryFiles } from "./linkRepositoryFiles.mts";
import { renderMermaid } from "./renderMermaid.mts";
import { sidebar } from "./sidebar.mts";

/** Where the site will stand on its server. The gateway serves it at /docs/. */
const base = process.env["WONRAIL_DOCS_BASE"] ?? "/docs/";

export default defineConfig({
  title: "Wonrail",
  description: "Stablecoin wallets for banks and enterprises: guides, operation and reference.",
  lang: "en",
  base,
  outDir: "dist",
  cacheDir: "../.cache/vitepress",
  srcExclude: ["bin/**", "public/**", "dist/**", "node_modules/**"],
  // Moves the site's data out of the pages, so that their inline scripts are the same for all.
  metaChunk: true,
  head: [["link", { rel: "icon", href: `${base}logo.svg`, type: "image/svg+xml" }]],
  // The gateway limits requests per address. Without this a page fetches all pages that it links.
  router: { prefetchLinks: false },
  markdown: {
    config: (markdown) => {
      markdown.use(renderMermaid);
      markdown.use(linkRepositoryFiles);
    },
  },
  themeConfig: {
    logo: "/logo.svg",
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/start/partner" },
      { text: "Guides", link: "/guides/accept-a-payment", activeMatch: "/(guides|concepts)/" },
      { text: "Operate", link: "/operate/install", activeMatch: "/(operate|runbooks)/" },
      { text: "Reference", link: "/reference/rest", activeMatch: "/reference/" },
      {
        text: "Contribute",
        link: "/contribute/architecture",
        activeMatch: "/(contribute|adr|evidence|performance)/",
      },
    ],
    sidebar,
    footer: {
      // Outside the site, so that its base is not added.
      message: 'Wonrail · Apache-2.0 · <a href="/api/docs">API reference</a>',
    },
  },
});
