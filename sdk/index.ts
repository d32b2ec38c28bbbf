/** Client of the Heliograph API, for Node and browsers: docs/sdk.md. */
export type { ErrorCode, Violation } from './errors.ts'
export { HeliographError, isCode } from './errors.ts'
export type * from './generated/types.gen.ts'
export type {
  CallOptions,
  ConnectOptions,
  FileOperation,
  FileOptions,
  FileParameters,
  Heliograph,
  HeliographFile,
} from './heliograph.ts'
export { connect, etagOf } from './heliograph.ts'
export type { Timers } from './machine.ts'
export type { Retry } from './sending.ts'
export type {
  CursorAnswer,
  CursorPage,
  Page,
  PageAnswer,
  SeriesAnswer,
  Window,
} from './walking.ts'
export { everyByCursor, everyItem, everyWindow } from './walking.ts'
