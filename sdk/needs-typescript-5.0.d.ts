/** What a compiler before TypeScript 5.0 gets, so that every import fails: the real declarations would be `any` to it, without a word. */
export declare const needsTypeScript5: never;
