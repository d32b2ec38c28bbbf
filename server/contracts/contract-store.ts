import type { Database, Queries, Transaction } from '../storage/database.ts'
import type { Row } from '../storage/records.ts'
import { type Columns, insertRow } from '../storage/rows.ts'
import { takeId } from '../storage/site-ids.ts'
import { type ContractsFile, decimalOf, type Known } from './contracts.ts'

type InFile = ContractsFile['assignments'][number]
type FeeInFile = NonNullable<ContractsFile['fees']>[number]

/** Prices are exact decimals, as text. */
export interface Assignment
  extends Omit<
    Row<InFile>,
    'fixed_price_per_mwh' | 'floor_price_per_mwh' | 'pays_at_negative_price'
  > {
  assignment_id: number
  fixed_price: string | null
  floor_price: string | null
  pays_at_negative_price: boolean
}

export interface Fee extends Omit<Row<FeeInFile>, 'value'> {
  fee_id: number
  /** Exact decimal, as text: in the currency, or percent. */
  value: string
}

export interface Contracts {
  assignments: Assignment[]
  /** By code, name, plant and time. */
  fees: Fee[]
}

export async function readContracts(
  db: Queries,
  site_id: string,
  logger_id: number | null = null,
): Promise<Contracts> {
  const values = [site_id, logger_id]
  const assignments = await db.query<Assignment>(
    `select assignment_id, logger_id, market_code, sold_market_code, contract_type, fixed_price,
       floor_price, pays_at_negative_price, offtaker, imbalance_responsible_party, currency,
       valid_from, valid_to
     from market_assignments
     where site_id = $1 and ($2::int is null or logger_id = $2)
     order by logger_id, valid_from`,
    values,
  )
  const fees = await db.query<Fee>(
    `select fee_id, logger_id, code, name, basis, value, currency, valid_from, valid_to
     from fees
     where site_id = $1 and ($2::int is null or coalesce(logger_id, $2) = $2)
     order by code, name, logger_id, valid_from`,
    values,
  )
  return { assignments, fees }
}

export async function readKnown(db: Queries, site_id: string): Promise<Known> {
  const loggers = await db.query<{ logger_id: number }>(
    'select logger_id from loggers where site_id = $1',
    [site_id],
  )
  const markets = await db.query<{ market_code: string }>('select market_code from markets')
  return {
    logger_ids: new Set(loggers.map((row) => row.logger_id)),
    market_codes: new Set(markets.map((row) => row.market_code)),
  }
}

type Replaced = ReturnType<typeof counted>

export interface ContractsImport {
  assignments: Replaced
  fees: Replaced
}

/**
 * Replaces all contracts and fees of a site by those of a valid file, in one transaction. Contracts
 * with the same plant and first day keep their id, as do fees with the same plant, code, name and
 * first day. `dry_run` only counts the changes.
 */
export function replaceContracts(
  db: Database,
  site_id: string,
  file: ContractsFile,
  { dry_run }: { dry_run: boolean },
): Promise<ContractsImport> {
  return db.transaction(async (tx) => {
    // Serialises imports of the same site.
    await tx.query('select from sites where site_id = $1 for update', [site_id])
    const { assignments, fees } = await readContracts(tx, site_id)
    const changes = {
      assignments: changesOf(assignments, file.assignments.map(assignmentOf), {
        id: 'assignment_id',
        key: ({ logger_id, valid_from }) => JSON.stringify([logger_id, valid_from]),
      }),
      fees: changesOf(fees, (file.fees ?? []).map(feeOf), {
        id: 'fee_id',
        key: ({ logger_id, code, name, valid_from }) =>
          JSON.stringify([logger_id, code, name, valid_from]),
      }),
    }
    if (!dry_run) {
      await store(tx, site_id, changes.assignments, ['market_assignments', 'assignment_id'])
      await store(tx, site_id, changes.fees, ['fees', 'fee_id'])
    }
    return { assignments: counted(changes.assignments), fees: counted(changes.fees) }
  })
}

function assignmentOf(item: InFile): Omit<Assignment, 'assignment_id'> {
  const { fixed_price_per_mwh, floor_price_per_mwh, ...rest } = item
  return {
    ...rest,
    fixed_price: exact(fixed_price_per_mwh),
    floor_price: exact(floor_price_per_mwh),
    sold_market_code: rest.sold_market_code ?? null,
    pays_at_negative_price: rest.pays_at_negative_price ?? true,
    offtaker: rest.offtaker ?? null,
    imbalance_responsible_party: rest.imbalance_responsible_party ?? null,
    valid_to: rest.valid_to ?? null,
  }
}

function feeOf(item: FeeInFile): Omit<Fee, 'fee_id'> {
  return {
    ...item,
    value: decimalOf(item.value),
    logger_id: item.logger_id ?? null,
    currency: item.currency ?? null,
    valid_to: item.valid_to ?? null,
  }
}

const exact = (value: number | undefined) => (value === undefined ? null : decimalOf(value))

interface Changes {
  added: Columns[]
  changed: Columns[]
  unchanged: number
  removed: number[]
}

function changesOf<Old extends New, New extends object>(
  present: readonly Old[],
  wanted: readonly New[],
  { id, key }: { id: string & keyof Old; key: (row: New) => string },
): Changes {
  const left = new Map(present.map((row) => [key(row), row]))
  const changes: Changes = { added: [], changed: [], unchanged: 0, removed: [] }
  for (const row of wanted) {
    const old = left.get(key(row))
    left.delete(key(row))
    if (old === undefined) changes.added.push({ ...row } as Columns)
    else if (Object.entries(row).every(([name, value]) => old[name as keyof Old] === value)) {
      changes.unchanged += 1
    } else changes.changed.push({ [id]: old[id], ...row })
  }
  changes.removed = [...left.values()].map((row) => Number(row[id]))
  return changes
}

const counted = ({ added, changed, unchanged, removed }: Changes) => ({
  added: added.length,
  changed: changed.length,
  unchanged,
  removed: removed.length,
})

async function store(
  tx: Transaction,
  site_id: string,
  { added, changed, removed }: Changes,
  [table, id]: readonly [string, string],
): Promise<void> {
  const gone = [...removed, ...changed.map((row) => row[id])]
  await tx.execute(`delete from ${table} where site_id = $1 and ${id} = any($2::int[])`, [
    site_id,
    gone,
  ])
  for (const row of changed) await insertRow(tx, table, { site_id, ...row })
  for (const row of added) {
    const given = id === 'assignment_id' ? { [id]: await takeId(tx, site_id, id) } : {}
    await insertRow(tx, table, { site_id, ...given, ...row })
  }
}
