import type { BaseLogger } from 'pino'

/** What the storage tells the program's log. */
export type Log = Pick<BaseLogger, 'info' | 'warn' | 'error'>
