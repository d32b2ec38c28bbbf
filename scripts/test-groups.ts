/**
 * Groups test files by their imports: a file that reaches no socket, process or thread needs no
 * process of its own, and only files that reach a database are run on another PostgreSQL.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { importsIn, parseSource } from './imports.ts'

/** Modules that open sockets, start processes or start threads. */
const outside = new Set([
  'node:child_process',
  'node:cluster',
  'node:dgram',
  'node:http',
  'node:https',
  'node:net',
  'node:tls',
  'node:worker_threads',
  'aedes',
  'fastify',
  'modbus-serial',
  'mqtt',
  'pg',
  'ws',
])

/** The file through which a test gets a database. */
const database_fixture = 'test/postgres.ts'

interface TestGroups {
  /** Files that reach a database. */
  database: string[]
  /** Files that reach a socket, a process or a thread, and no database. */
  outside: string[]
  /** Files that reach none of these. */
  pure: string[]
}

export function testGroups(patterns: readonly string[]): TestGroups {
  const groups: TestGroups = { database: [], outside: [], pure: [] }
  for (const file of globSync(patterns, { exclude: ['**/node_modules/**'] }).sort()) {
    const reached = reachedFrom(file)
    if (reached.has(database_fixture)) groups.database.push(file)
    else if ([...reached].some((name) => outside.has(name))) groups.outside.push(file)
    else groups.pure.push(file)
  }
  return groups
}

/** The files of the project and the packages that a file loads, directly or through others. */
function reachedFrom(file: string): Set<string> {
  const reached = new Set([file])
  for (const from of reached) {
    if (from.endsWith('.ts') || from.endsWith('.tsx')) {
      for (const name of importsOf(from)) reached.add(name)
    }
  }
  return reached
}

const imports = new Map<string, string[]>()

function importsOf(file: string): string[] {
  const known = imports.get(file)
  if (known) return known
  const found = importsIn(parseSource(file, readFileSync(file, 'utf8')))
    .filter(({ is_type }) => !is_type)
    .map(({ specifier }) => resolved(file, specifier))
  imports.set(file, found)
  return found
}

function resolved(from: string, name: string): string {
  if (name.startsWith('.')) return join(dirname(from), name)
  const own = `${name.replace('@heliograph/', '')}.ts`
  return name.startsWith('@heliograph/') && existsSync(own) ? own : name
}
