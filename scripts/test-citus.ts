/**
 * Runs the tests of the server on a Citus cluster of a coordinator and two workers:
 *
 *     CITUS_SOURCE=<checkout of Citus> node scripts/test-citus.ts [FILE …]
 *
 * Compiles the checkout against Debian's PostgreSQL (needs postgresql-15, postgresql-server-dev-15,
 * libkrb5-dev, a compiler and autoconf)
 * beside a copy of its programs, once in each folder for temporary files,
 * and starts the nodes in a temporary folder; they have Unix sockets and no ports. With
 * TEST_DATABASE_URL, and TEST_WORKER_URLS separated by spaces, it uses that cluster.
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type EmbeddedServer, startEmbedded } from '../server/storage/embedded.ts'
import { testGroups } from './test-groups.ts'

const major = '15'
const log = { info() {}, warn: console.error, error: console.error }

const settings = `
shared_preload_libraries = 'citus'
citus.enable_statistics_collection = off
max_connections = 500
max_locks_per_transaction = 512
`

const given = process.argv.slice(2)
const files = given.length > 0 ? given : testGroups(['server/**/*.test.ts']).database
process.exitCode = process.env['TEST_DATABASE_URL']
  ? await runTests({})
  : await onNewCluster((urls) =>
      runTests({ TEST_DATABASE_URL: urls[0]!, TEST_WORKER_URLS: urls.slice(1).join(' ') }),
    )

async function runTests(env: Record<string, string>): Promise<number> {
  const args = ['--max-semi-space-size=64', 'scripts/run-tests.ts', '2', ...files]
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  return (await once(child, 'exit'))[0] ?? 1
}

/** Starts the nodes, and stops and removes them after `work`. */
async function onNewCluster(work: (urls: string[]) => Promise<number>): Promise<number> {
  const source = process.env['CITUS_SOURCE']
  if (source === undefined) {
    console.error('set CITUS_SOURCE to a checkout of Citus, or TEST_DATABASE_URL to a cluster')
    return 2
  }
  const programs_dir = await buildPrograms(path.resolve(source))
  const directory = await mkdtemp(path.join(os.tmpdir(), 'hg-citus-'))
  await chmod(directory, 0o711)
  const nodes: EmbeddedServer[] = []
  try {
    for (const name of ['c', 'w1', 'w2']) {
      nodes.push(await startNode(path.join(directory, name), programs_dir))
    }
    return await work(nodes.map(({ url }) => url))
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await rm(directory, { recursive: true, force: true })
  }
}

async function startNode(data_dir: string, programs_dir: string): Promise<EmbeddedServer> {
  const of = { data_dir, programs_dir, log, durable: false }
  await (await startEmbedded(of)).stop()
  const file = path.join(data_dir, 'postgres/cluster/local.conf')
  await writeFile(file, settings)
  await chmod(file, 0o644)
  return startEmbedded(of)
}

/** PostgreSQL finds its files by their place beside its programs, so that a copy has its own. */
async function buildPrograms(source: string): Promise<string> {
  const id = createHash('sha256').update(source).digest('hex').slice(0, 12)
  const built = path.join(os.tmpdir(), `heliograph-citus-${id}`)
  const programs_dir = path.join(built, `usr/lib/postgresql/${major}`)
  if (existsSync(built)) return programs_dir
  const making = `${built}.new`
  await rm(making, { recursive: true, force: true })
  await mkdir(making)
  for (const folder of [`usr/lib/postgresql/${major}`, `usr/share/postgresql/${major}`]) {
    await cp(path.join('/', folder), path.join(making, folder), {
      recursive: true,
      verbatimSymlinks: true,
    })
  }
  const checkout = path.join(making, 'citus')
  await cp(source, checkout, { recursive: true, verbatimSymlinks: true })
  await mendSource(checkout)
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] })
  run('./configure', `PG_CONFIG=/usr/lib/postgresql/${major}/bin/pg_config`)
  run('nice', 'make', '-s', '-j2')
  run('make', '-s', 'install-all', `DESTDIR=${making}`)
  await rm(checkout, { recursive: true })
  await rename(making, built)
  return programs_dir
}

/** Newer minor releases of PostgreSQL declare a function that Citus has under the same name. */
async function mendSource(checkout: string): Promise<void> {
  for (const file of [
    'src/include/pg_version_compat.h',
    'src/backend/distributed/commands/serialize_distributed_ddls.c',
  ]) {
    const text = await readFile(path.join(checkout, file), 'utf8')
    const mended = text.replaceAll(/\bhave_createdb_privilege\b/g, 'citus_have_createdb_privilege')
    await writeFile(path.join(checkout, file), mended)
  }
}
