/**
 * Has the server of TEST_DATABASE_URL prepare every statement that tests sent to the embedded
 * PostgreSQL (see test/record-statements.ts), on a database with all migrations:
 *
 *     node scripts/postgres15.ts -- node scripts/prepare-statements.ts statements.jsonl
 *
 * Parsing and analysis find each keyword, function, operator and type that an older version lacks.
 * A statement that the embedded server refuses as well was wrong on purpose, or reads a table that
 * a test makes for itself.
 */
import type { Database } from '@heliograph/server/storage/database'
import { testDatabase } from '../test/postgres.ts'
import { readStatements } from './statements.ts'

const [file] = process.argv.slice(2)
if (file === undefined || process.env['TEST_DATABASE_URL'] === undefined) {
  process.stderr.write('usage: TEST_DATABASE_URL=… node scripts/prepare-statements.ts <file>\n')
  process.exit(2)
}
const statements = new Set(readStatements(file).map(({ text }) => text))

const older = await testDatabase()
delete process.env['TEST_DATABASE_URL']
const embedded = await testDatabase()
let refused = 0
for (const text of statements) {
  const reason = await refusal(older.db, text)
  if (reason === null || (await refusal(embedded.db, text)) !== null) continue
  refused += 1
  process.stderr.write(`${reason}:\n${text}\n\n`)
}
process.stdout.write(`${statements.size} statements prepared, ${refused} refused\n`)
await Promise.all([older.drop(), embedded.drop()])
process.exitCode = refused === 0 && statements.size > 0 ? 0 : 1

/** Why the server refuses to prepare the statement; null if it does not. */
async function refusal(db: Database, text: string): Promise<string | null> {
  try {
    await db.transaction(async ({ execute }) => {
      await execute(`prepare one as ${text}`)
      await execute('deallocate one')
    })
    return null
  } catch (error) {
    return (error as Error).message
  }
}
