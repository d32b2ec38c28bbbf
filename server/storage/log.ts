import type { BaseLogger } from 'pino'

/** The log methods in use. */
export type Log = Pick<BaseLogger, 'info' | 'warn' | 'error'>
