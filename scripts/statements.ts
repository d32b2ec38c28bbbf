/** The SQL statements that tests sent: test/record-statements.ts wrote them. */
import { readFileSync } from 'node:fs'

export interface SentStatement {
  text: string
  /** The file that sent it, from the root of the checkout; null for a package. */
  sender: string | null
}

/** Only these can be prepared. Migrations and COPY run in the tests of storage. */
const preparable = /^(\s|--.*\n|\()*(select|insert|update|delete|merge|values|with)\b/i

export const readStatements = (file: string): SentStatement[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): SentStatement => JSON.parse(line))
    .filter(({ text }) => preparable.test(text) && !/;\s*\S/.test(text))
