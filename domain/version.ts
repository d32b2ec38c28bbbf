const collator = new Intl.Collator('en', { numeric: true })

/** Below 0 when the first version is the older one: `0.9.0` is older than `0.10.0`. */
export const compareVersions = (one: string, other: string): number => collator.compare(one, other)
