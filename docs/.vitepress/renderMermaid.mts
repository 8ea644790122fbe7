import type { MarkdownRenderer } from "vitepress";

/** Turns a code block marked `mermaid` into a diagram that theme/Diagram.vue draws in the browser. */
export function renderMermaid(markdown: MarkdownRenderer): void {
  const renderFence = markdown.renderer.rules.fence!;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]!;
    if (info.trim() !== "mermaid") return renderFence(tokens, index, ...rest);
    return `<Diagram source="${encodeURIComponent(content)}" />`;
  };
}
