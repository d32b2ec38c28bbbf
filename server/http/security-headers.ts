/** Headers of every answer. */
export const securityHeaders = { 'x-content-type-options': 'nosniff' } as const

/** Two years; sent on encrypted connections only. RFC 6797. */
export const strictTransport = 'max-age=63072000'
