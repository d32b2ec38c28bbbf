/** On every answer: what is declared as JSON is never taken for anything else. */
export const securityHeaders = { 'x-content-type-options': 'nosniff' } as const

/** Two years, and only said where the connection is encrypted. RFC 6797. */
export const strictTransport = 'max-age=63072000'
