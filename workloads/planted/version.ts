/** Each protocol here has a bug that is known, and a version without it. */
export type Version = "buggy" | "mended"
