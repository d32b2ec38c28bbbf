/**
 * Loaded before tests by `node --import`: adds each SQL statement that they send to the file
 * `STATEMENTS_FILE`, one `SentStatement` (scripts/statements.ts) a line.
 */
import { appendFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'

const file = process.env['STATEMENTS_FILE']
const root = path.resolve(import.meta.dirname, '..')
const seen = new Set<string>()

/** They send the statements of others. */
const passing =
  /^(test\/(record-statements|cluster-fixtures)|server\/storage\/(database|rows))\.ts$/

/** The first file of the checkout on the stack, without packages. */
function sender(): string | null {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 50
  const stack = new Error('who sends').stack ?? ''
  Error.stackTraceLimit = stackTraceLimit
  const files = [...stack.matchAll(/file:\/\/(\/[^:)]+)/g)].map(([, name = '']) =>
    path.relative(root, name),
  )
  return files.find((name) => !/^\.\.|node_modules/.test(name) && !passing.test(name)) ?? null
}

function record(statement: unknown): void {
  const text = typeof statement === 'string' ? statement : (statement as { text?: string }).text
  if (text === undefined || seen.has(text)) return
  seen.add(text)
  appendFileSync(file!, `${JSON.stringify({ text, sender: sender() })}\n`)
}

/** A pool sends after it has a connection, when the sender is no longer on the stack. */
if (file !== undefined) {
  for (const prototype of [pg.Client.prototype, pg.Pool.prototype]) {
    const send = prototype.query as (...given: unknown[]) => unknown
    prototype.query = function sendAndRecord(this: unknown, ...given: unknown[]) {
      record(given[0])
      return Reflect.apply(send, this, given)
    } as never
  }
}
