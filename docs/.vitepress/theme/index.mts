import DefaultTheme from "vitepress/theme-without-fonts";
import type { Theme } from "vitepress";
import Diagram from "./Diagram.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component("Diagram", Diagram),
} satisfies Theme;
