import { createTheme } from "@mantine/core";

/** Shades with a contrast of 4.5 to 1 at the least, in both colour schemes. */
export const theme = createTheme({
  primaryColor: "blue",
  primaryShade: { light: 8, dark: 8 },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
});
