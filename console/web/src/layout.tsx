import { ActionIcon, Badge, Button, Group, Text, useMantineColorScheme } from "@mantine/core";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { post } from "./api/call";
import { useLive } from "./api/live";
import { isOwnPath } from "./api/ownPath";
import { currentSession } from "./api/session";
import { SearchBox } from "./blocks/searchBox";
import { formatTime } from "./format/times";

const SCREENS = [
  ["/", "Home"],
  ["/settlement", "Settlement"],
  ["/organisations", "Organisations"],
  ["/reconciliation", "Reconciliation"],
  ["/dead-letters", "Dead letters"],
  ["/approvals", "Approvals"],
  ["/audit", "Audit trail"],
  ["/system", "System"],
] as const;

/** The frame of every screen: navigation, search, operator, and the state of the live stream. */
export function Layout(): ReactNode {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setMenuOpen(false), [path]);
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="head">
        <Button
          className="menuButton"
          variant="default"
          size="compact-sm"
          aria-expanded={isMenuOpen}
          aria-controls="navigation"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          Menu
        </Button>
        <Link to="/" className="brand">
          Wonrail
        </Link>
        <Badge variant="outline" color="gray" className="network">
          {currentSession().network}
        </Badge>
        <SearchBox />
        <OperatorMenu />
      </header>
      <nav id="navigation" className="navigation" data-open={isMenuOpen} aria-label="Screens">
        {SCREENS.map(([to, title]) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === "/" }}
            activeProps={{ "aria-current": "page" }}
          >
            {title}
          </Link>
        ))}
        <LiveState />
      </nav>
      <main id="content" className="content" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

function LiveState(): ReactNode {
  const { connected, at } = useLive();
  const text = connected ? "Live" : at === undefined ? "Connecting…" : "Interrupted";
  return (
    <Text size="xs" className="quiet live" data-connected={connected} role="status">
      {text}
      {at === undefined ? "" : ` · ${formatTime(at)}`}
    </Text>
  );
}

function OperatorMenu(): ReactNode {
  const { operator } = currentSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const navigate = useNavigate();
  const signOut = async () => {
    const { endSessionUrl } = await post<{ endSessionUrl: string | null }>("/auth/sign-out", {});
    // The identity provider's own page ends the session there.
    if (endSessionUrl !== null && !isOwnPath(endSessionUrl)) window.location.assign(endSessionUrl);
    else void navigate({ to: "/" }).then(() => window.location.reload());
  };
  const next = colorScheme === "dark" ? "light" : "dark";
  return (
    <Group gap="xs" wrap="nowrap" className="operator">
      <Text size="sm" className="operatorName" title={operator.roles.join(", ")}>
        {operator.name} ({operator.roles.join(", ")})
      </Text>
      <ActionIcon variant="default" aria-label={`Use ${next} colours`} onClick={() => setColorScheme(next)}>
        <span aria-hidden="true">◐</span>
      </ActionIcon>
      <Button variant="default" size="compact-sm" onClick={() => void signOut()}>
        Sign out
      </Button>
    </Group>
  );
}
