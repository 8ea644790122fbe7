const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** "2026-11-27 13:45:10 GMT+9" in the given or the browser's zone. */
export function formatTime(iso: string | undefined, timeZone?: string): string {
  const time = iso === undefined ? NaN : Date.parse(iso);
  if (Number.isNaN(time)) return "—";
  const parts = new Intl.DateTimeFormat("en-GB", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
    timeZone,
  }).formatToParts(time);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
  const date = `${part("year")}-${part("month")}-${part("day")}`;
  return `${date} ${part("hour")}:${part("minute")}:${part("second")} ${part("timeZoneName")}`;
}

/** "45 s", "3 min 20 s", "2 h 5 min", "4 d 3 h", "2 y 30 d": the two largest units. */
export function formatSeconds(seconds: number | string | undefined): string {
  if (seconds === undefined) return "—";
  const total = Math.max(0, Math.round(Number(seconds)));
  if (!Number.isFinite(total)) return "—";
  if (total < MINUTE) return `${total} s`;
  if (total < HOUR) return twoUnits(total, MINUTE, "min", 1, "s");
  if (total < DAY) return twoUnits(total, HOUR, "h", MINUTE, "min");
  if (total < YEAR) return twoUnits(total, DAY, "d", HOUR, "h");
  return twoUnits(total, YEAR, "y", DAY, "d");
}

/** The age of a time, such as "3 min 20 s". */
export function formatAge(iso: string | undefined, nowMs: number): string {
  if (iso === undefined) return "—";
  return formatSeconds((nowMs - Date.parse(iso)) / 1000);
}

function twoUnits(total: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((total % large) / small);
  return `${Math.floor(total / large)} ${largeUnit}${rest === 0 ? "" : ` ${rest} ${smallUnit}`}`;
}
