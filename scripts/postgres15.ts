/**
 * Runs a command against Debian's PostgreSQL 15 instead of the embedded one:
 *
 *     node scripts/postgres15.ts -- node --test 'server/storage/*.test.ts'
 *
 * The cluster is temporary, in a private directory; TEST_DATABASE_URL names it for the command.
 * POSTGRES_PROGRAMS names another installation: a directory with bin/initdb and bin/postgres.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { startEmbedded } from '../server/storage/embedded.ts'

const programs_dir = process.env.POSTGRES_PROGRAMS ?? '/usr/lib/postgresql/15'
const [separator, command, ...args] = process.argv.slice(2)
if (separator !== '--' || command === undefined) {
  console.error('usage: node scripts/postgres15.ts -- <command> [arguments]')
  process.exit(2)
}
const initdb = path.join(programs_dir, 'bin/initdb')
if (
  await access(initdb).then(
    () => false,
    () => true,
  )
) {
  console.error(`${initdb} is not there: install it (Debian: apt-get install postgresql-15)`)
  process.exit(2)
}

const data_dir = await mkdtemp(path.join(os.tmpdir(), 'heliograph-postgres15-'))
// As root the cluster belongs to another user, who must reach it; its own directory is private.
await chmod(data_dir, 0o711)
const log = { info() {}, warn: console.error, error: console.error }
let code = 1
try {
  const server = await startEmbedded({ data_dir, log, programs_dir, durable: false })
  try {
    const env = { ...process.env, TEST_DATABASE_URL: server.url, TEST_DATABASE_MAJOR: '15' }
    const child = spawn(command, args, { stdio: 'inherit', env })
    // The terminal sends its signals to the command too; we wait for its end.
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => child.kill(signal))
    code = (await once(child, 'exit'))[0] ?? 1
  } finally {
    await server.stop()
  }
} finally {
  await rm(data_dir, { recursive: true, force: true })
}
process.exit(code)
