/**
 * Refuses statements of the server that a Citus cluster cannot run, by their plans on the embedded
 * PostgreSQL (docs/decisions/0054-citus.md):
 *
 *     node scripts/cluster-statements.ts statements.jsonl
 *
 * Sees only statements that tests sent, and neither volatile functions in writes nor every join
 * that Citus refuses: `npm run test-citus` finds those.
 */
import { readingKinds } from '@heliograph/domain/readings'
import type { Database } from '@heliograph/server/storage/database'
import { queue_tables } from '@heliograph/server/storage/distribute'
import { ensurePartitions } from '@heliograph/server/storage/partitions'
import { testDatabase } from '../test/postgres.ts'
import { readStatements } from './statements.ts'

interface PlanNode {
  'Node Type': string
  'Parent Relationship'?: string
  'Relation Name'?: string
  Alias?: string
  Plans?: PlanNode[]
  [detail: string]: unknown
}

interface Scan {
  table: string
  /** Whether the table is bound to one site, which the statement names. */
  is_of_one_site: boolean
  is_locked: boolean
}

/** Distributed tables and their partitions. Makes a week of each partitioned table. */
export async function siteTables(db: Database): Promise<ReadonlySet<string>> {
  const week_ms = Date.parse('2026-06-15')
  const partitioned = Object.values(readingKinds).map(({ table }) => table)
  // A table without partitions is in no plan.
  await ensurePartitions(db, partitioned, new Date(week_ms), new Date(week_ms + 1))
  const tables = await db.query<{ name: string }>(
    `select relname as name from pg_class c
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and exists (select from pg_attribute where attrelid = c.oid and attname = 'site_id')
       and not relname = any ($1)`,
    [queue_tables],
  )
  return new Set(tables.map(({ name }) => name))
}

/** Why a cluster cannot run the statement; null if no reason is found. */
export async function clusterFault(
  db: Database,
  tables: ReadonlySet<string>,
  text: string,
): Promise<string | null> {
  const [explained] = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (generic_plan, verbose, format json) ${text}`,
  )
  const names = (found: readonly Scan[]) => [...new Set(found.map(({ table }) => table))].join(', ')
  for (const scans of independentScans(explained!['QUERY PLAN'][0].Plan, tables)) {
    const unnamed = scans.filter(({ is_of_one_site }) => !is_of_one_site)
    const locked = unnamed.filter(({ is_locked }) => is_locked)
    if (locked.length > 0) return `locks rows of ${names(locked)} without \`site_id = $n\``
    // A subquery that takes the site from the outer row is joined across all nodes.
    if (unnamed.length > 0 && unnamed.length < scans.length) {
      return `names one site, but lacks \`site_id = $n\` for ${names(unnamed)}`
    }
  }
  return null
}

/** The scans of a statement, and of each part of it that a cluster runs for itself before. */
function independentScans(plan: PlanNode, tables: ReadonlySet<string>): Scan[][] {
  const parts: Scan[][] = [[]]
  const visit = (node: PlanNode, scans: Scan[], is_locked: boolean): void => {
    const table = node['Relation Name']
    if (table !== undefined && tables.has(table) && node['Node Type'] !== 'ModifyTable') {
      scans.push({ table, is_of_one_site: isOfOneSite(node), is_locked })
    }
    for (const below of node.Plans ?? []) {
      const is_part = below['Parent Relationship'] === 'InitPlan'
      const own: Scan[] = is_part ? [] : scans
      if (is_part) parts.push(own)
      visit(below, own, is_locked || node['Node Type'] === 'LockRows')
    }
  }
  visit(plan, parts[0]!, false)
  return parts
}

/** False for a filter that a request may leave out, such as `$1 is null or a.site_id = $1`. */
function isOfOneSite(node: PlanNode): boolean {
  const conditions = ['Index Cond', 'Recheck Cond', 'Filter'].map((key) => node[key]).join()
  const site_id = `${node.Alias}\\.site_id`
  const value = String.raw`(?:\(?\$\d+(?:::text)?(?:\)\[1\])?|'[^']*'::text)`
  const named = new RegExp(`(OR )?\\((?:${site_id} = ${value}|${value} = ${site_id})\\)( OR)?`)
  const found = named.exec(conditions)
  return found !== null && found[1] === undefined && found[2] === undefined
}

/** Marks a statement of many sites that the server sends to a cluster for one at a time. */
const mark = '/* one site on a cluster */'

/** Statements on tables that a test or a library makes for itself. */
const unknown_table = '42P01'
const unknown_schema = '3F000'

async function checkFile(file: string): Promise<void> {
  const { db, drop } = await testDatabase()
  const tables = await siteTables(db)
  const sent = readStatements(file).filter(
    ({ sender, text }) =>
      !text.includes(mark) &&
      sender !== null &&
      /^(server|cli)\/(?!.*(\.test\.ts|\/fixtures\/))/.test(sender),
  )
  let faults = 0
  for (const { text, sender } of sent) {
    const fault = await clusterFault(db, tables, text).catch((error: { code?: string }) => {
      if (error.code === unknown_table || error.code === unknown_schema) return null
      throw error
    })
    if (fault === null) continue
    faults += 1
    process.stderr.write(`${sender} ${fault}:\n${text}\n\n`)
  }
  process.stdout.write(`${sent.length} statements, ${faults} that a cluster cannot run\n`)
  await drop()
  process.exitCode = faults === 0 && sent.length > 0 ? 0 : 1
}

if (import.meta.main) {
  const [file] = process.argv.slice(2)
  if (file === undefined) {
    process.stderr.write('usage: node scripts/cluster-statements.ts <file>\n')
    process.exitCode = 2
  } else await checkFile(file)
}
