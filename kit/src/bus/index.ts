export type * from "./port";
