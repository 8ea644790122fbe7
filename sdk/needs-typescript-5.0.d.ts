/** Declarations for compilers before TypeScript 5.0. Every import fails, instead of becoming `any` silently. */
export declare const needsTypeScript5: never;
