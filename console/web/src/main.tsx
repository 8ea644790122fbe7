import "@mantine/core/styles.css";
import "./console.css";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { CallError, send } from "./api/call";
import { startLive } from "./api/live";
import { keepSession, type Session } from "./api/session";
import { Failure } from "./blocks/states";
import { router } from "./router";
import { theme } from "./theme";

const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 2_000, retry: (failures, error) => failures < 2 && isTemporary(error) },
  },
});
const root = createRoot(document.getElementById("root")!);

void start();

/** Reads the session first, because every screen depends on the operator's roles. */
async function start(): Promise<void> {
  try {
    keepSession(await send<Session>("/api/session"));
    startLive();
    draw();
  } catch (error) {
    if (error instanceof CallError && error.code === "CON_001") return;
    drawFailure(error);
  }
}

function draw(): void {
  root.render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}

function drawFailure(error: unknown): void {
  root.render(
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <main className="alone">
        <h1>Wonrail console</h1>
        <Failure error={error} retry={() => window.location.reload()} />
      </main>
    </MantineProvider>,
  );
}

function isTemporary(error: unknown): boolean {
  return error instanceof CallError && error.code === "SYS_002";
}
