import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type ErrorComponentProps,
} from "@tanstack/react-router";
import { Failure, Empty } from "./blocks/states";
import { Layout } from "./layout";
import { Home } from "./screens/home";

const root = createRootRoute({
  component: Layout,
  notFoundComponent: () => <Empty>There is no such page. Use the navigation or the search.</Empty>,
});

const home = createRoute({ getParentRoute: () => root, path: "/", component: Home });

const search = createRoute({
  getParentRoute: () => root,
  path: "/search",
  validateSearch: ({ q }) => ({ q: typeof q === "string" || typeof q === "number" ? String(q) : "" }),
  component: lazyRouteComponent(() => import("./screens/search"), "Search"),
});

const operation = createRoute({
  getParentRoute: () => root,
  path: "/operations/$ref",
  component: lazyRouteComponent(() => import("./screens/operation"), "Operation"),
});

const organisations = createRoute({
  getParentRoute: () => root,
  path: "/organisations",
  component: lazyRouteComponent(() => import("./screens/organisations"), "Organisations"),
});

const organisation = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$org",
  component: lazyRouteComponent(() => import("./screens/organisation"), "Organisation"),
});

const wallet = createRoute({
  getParentRoute: () => root,
  path: "/wallets/$walletId",
  component: lazyRouteComponent(() => import("./screens/wallet"), "Wallet"),
});

const settlement = createRoute({
  getParentRoute: () => root,
  path: "/settlement",
  component: lazyRouteComponent(() => import("./screens/settlement"), "Settlement"),
});

const reconciliation = createRoute({
  getParentRoute: () => root,
  path: "/reconciliation",
  component: lazyRouteComponent(() => import("./screens/reconciliation"), "Reconciliation"),
});

const deadLetters = createRoute({
  getParentRoute: () => root,
  path: "/dead-letters",
  component: lazyRouteComponent(() => import("./screens/deadLetters"), "DeadLetters"),
});

const approvals = createRoute({
  getParentRoute: () => root,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./screens/approvals"), "Approvals"),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  component: lazyRouteComponent(() => import("./screens/audit"), "Audit"),
});

const system = createRoute({
  getParentRoute: () => root,
  path: "/system",
  component: lazyRouteComponent(() => import("./screens/system"), "System"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    search,
    operation,
    organisations,
    organisation,
    wallet,
    settlement,
    reconciliation,
    deadLetters,
    approvals,
    audit,
    system,
  ]),
  defaultErrorComponent: ({ error, reset }: ErrorComponentProps) => <Failure error={error} retry={reset} />,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
