/** The largest request that a server takes, unless it says otherwise. */
export const MAX_REQUEST_BYTES = 1024 * 1024;
/** The largest answer that a client takes, unless it says otherwise. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
