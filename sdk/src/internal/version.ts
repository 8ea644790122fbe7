/** Version of the package. A test compares it with package.json. */
export const VERSION = "1.0.0";

/** Version of the API that the types describe. Requests ask for it. */
export const API_VERSION = "2026-01-01";
