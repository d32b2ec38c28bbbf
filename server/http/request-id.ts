const accepted = /^[A-Za-z0-9._-]{1,64}$/

/** The caller's X-Request-Id where it is well formed, else a new one. */
export function requestId(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && accepted.test(header) ? header : newId()
}
