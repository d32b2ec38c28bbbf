import type { Logger } from 'pino'

/** The program's log: what its parts need of it. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>
