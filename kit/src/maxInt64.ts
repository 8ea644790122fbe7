/** The largest number in a bigint column of Postgres. A uint64 field of protobuf carries twice as much. */
export const MAX_INT64 = 2n ** 63n - 1n;
