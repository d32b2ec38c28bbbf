/**
 * Loaded before tests by `node --import`: adds each SQL statement that they send to the file
 * `STATEMENTS_FILE`, one JSON string a line. `scripts/prepare-statements.ts` reads it.
 */
import { appendFileSync } from 'node:fs'
import pg from 'pg'

const file = process.env['STATEMENTS_FILE']
const send = pg.Client.prototype.query
const seen = new Set<string>()

function sendAndRecord(this: pg.Client, ...given: unknown[]): unknown {
  const [statement] = given
  const text = typeof statement === 'string' ? statement : (statement as { text?: string }).text
  if (text !== undefined && !seen.has(text)) {
    seen.add(text)
    appendFileSync(file!, `${JSON.stringify(text)}\n`)
  }
  return Reflect.apply(send, this, given)
}

if (file !== undefined) pg.Client.prototype.query = sendAndRecord as typeof send
