import { Button, Group, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { isAllowed } from "../api/hooks";
import { type Page } from "../api/paging";
import { type Method } from "../api/services";
import { downloadCsv, toCsv } from "./csv";
import { Allowed, Empty, Failure, Loading } from "./states";

export interface Column<Row> {
  title: string;
  /** The text of the cell, in the table and in the CSV file. Absent: not in the file. */
  text?: (row: Row) => string;
  /** A richer cell for the table. */
  cell?: (row: Row) => ReactNode;
  align?: "right";
}

interface PagedTableProps<Row> {
  /** Names the table for screen readers and the CSV file. */
  name: string;
  /** The RPC that loads the rows: it decides who may see them. */
  method: Method;
  /** Filters of the list: other filters load other pages. */
  filters?: readonly unknown[];
  load: (cursor: string | undefined, signal: AbortSignal | undefined) => Promise<Page<Row>>;
  rowKey: (row: Row) => string;
  columns: readonly Column<Row>[];
  empty: string;
  refetchMs?: number;
}

/** An export ends here, because the browser holds all rows in memory. */
const EXPORT_PAGES = 100;

/** A list by cursor, with the states of loading, empty and refused, and a CSV export. */
export function PagedTable<Row>(props: PagedTableProps<Row>): ReactNode {
  return (
    <Allowed method={props.method}>
      <AllowedTable {...props} />
    </Allowed>
  );
}

function AllowedTable<Row>(props: PagedTableProps<Row>): ReactNode {
  const { name, method, filters = [], load, empty, refetchMs } = props;
  const pages = useInfiniteQuery({
    queryKey: [method, "pages", name, ...filters],
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
    enabled: isAllowed(method),
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
  });
  if (pages.isPending) return <Loading what={name} />;
  if (pages.data === undefined) return <Failure error={pages.error} retry={() => void pages.refetch()} />;
  const rows = pages.data.pages.flatMap((page) => page.rows);
  return (
    <>
      {pages.error ? <Failure error={pages.error} retry={() => void pages.refetch()} /> : undefined}
      {rows.length === 0 ? <Empty>{empty}</Empty> : <Rows {...props} rows={rows} />}
      <Group mt="xs" gap="sm">
        {rows.length === 0 ? undefined : (
          <Text size="sm">
            {rows.length} shown{pages.hasNextPage ? ", more to load" : ""}
          </Text>
        )}
        {pages.hasNextPage ? (
          <Button
            size="compact-sm"
            variant="default"
            loading={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
          >
            Load more
          </Button>
        ) : undefined}
        {rows.length === 0 ? undefined : <ExportButton {...props} />}
      </Group>
    </>
  );
}

function ExportButton<Row>({ name, load, columns }: PagedTableProps<Row>): ReactNode {
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const write = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      const rows = await loadAll(load);
      downloadCsv(fileName(name), csvOf(columns, rows));
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button size="compact-sm" variant="default" loading={busy} onClick={() => void write()}>
        Export CSV
      </Button>
      {failure === undefined ? undefined : <Failure error={failure} />}
    </>
  );
}

/** Rows that are there already, such as the answer of an RPC without pages. */
export function DataTable<Row>({
  name,
  rows,
  columns,
  rowKey,
  empty,
}: Pick<PagedTableProps<Row>, "name" | "columns" | "rowKey" | "empty"> & {
  rows: readonly Row[];
}): ReactNode {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    <>
      <Rows name={name} rows={rows} columns={columns} rowKey={rowKey} />
      <Button
        mt="xs"
        size="compact-sm"
        variant="default"
        onClick={() => downloadCsv(fileName(name), csvOf(columns, rows))}
      >
        Export CSV
      </Button>
    </>
  );
}

function Rows<Row>({
  name,
  rows,
  columns,
  rowKey,
}: Pick<PagedTableProps<Row>, "name" | "columns" | "rowKey"> & { rows: readonly Row[] }): ReactNode {
  return (
    <Table.ScrollContainer
      minWidth={columns.length * 110}
      type="native"
      tabIndex={0}
      role="group"
      aria-label={name}
    >
      <Table striped verticalSpacing={6} aria-label={name}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, align }) => (
              <Table.Th key={title} scope="col" ta={align ?? "left"}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map((column) => (
                <Cell key={column.title} column={column} row={row} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const TIME = /^\d{4}-\d{2}-\d{2} /;

/** Numbers and times stay in one line. */
function Cell<Row>({ column: { text, cell, align }, row }: { column: Column<Row>; row: Row }): ReactNode {
  const isShort = align === "right" || TIME.test(text?.(row) ?? "");
  return (
    <Table.Td ta={align ?? "left"} className={isShort ? "oneLine" : ""}>
      {(cell ?? text)?.(row)}
    </Table.Td>
  );
}

async function loadAll<Row>(load: PagedTableProps<Row>["load"]): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < EXPORT_PAGES; page++) {
    const { rows: more, next } = await load(cursor, undefined);
    rows.push(...more);
    if (next === undefined) return rows;
    cursor = next;
  }
  return rows;
}

function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const written = columns.flatMap(({ title, text }) => (text === undefined ? [] : [{ title, text }]));
  return toCsv(
    written.map(({ title }) => title),
    rows.map((row) => written.map(({ text }) => text(row))),
  );
}

function fileName(name: string): string {
  return `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-${new Date().toISOString().slice(0, 10)}.csv`;
}
