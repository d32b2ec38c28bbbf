/** What edges tell of batteries: frames of kind `dispatch`, `control_notes`, `battery_setup`. */
import { SetupReport } from '@heliograph/domain/battery'
import { ControlNote, DispatchReport } from '@heliograph/domain/dispatch'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import { type Checker, firstFault } from '../telemetry/first-fault.ts'
import { isUnstorableJson, Refused, shown } from '../telemetry/refused.ts'

const listOf = <Of extends TSchema>(item: Of) => Compile(Type.Array(item, { maxItems: 20_000 }))
const dispatches = listOf(DispatchReport)
const notes = listOf(ControlNote)
const setups = listOf(SetupReport)

interface Bounds {
  /** Unix ms. */
  first_at: number
  last_at: number
}

/** Each throws `Refused` where a payload is no such list, or one is before or after its time. */
export const acceptDispatches = (payload: unknown, bounds: Bounds): DispatchReport[] =>
  accepted(dispatches, payload, bounds, ['issued_at', 'reported_at'])

export const acceptNotes = (payload: unknown, bounds: Bounds): ControlNote[] =>
  accepted(notes, payload, bounds, ['at'])

export function acceptSetups(payload: unknown, bounds: Bounds): SetupReport[] {
  const all = accepted(setups, payload, bounds, ['read_at'])
  for (const [index, one] of all.entries()) {
    if (!('told_at' in one) || one.told_at <= one.read_at) continue
    throw new Refused(`${index}: told_at: ${shown(one.told_at)} is after read_at`)
  }
  return all
}

function accepted<Item extends object>(
  checker: Checker<Item[]>,
  payload: unknown,
  { first_at, last_at }: Bounds,
  instants: readonly (keyof Item & string)[],
): Item[] {
  if (!checker.Check(payload)) throw new Refused(`payload${firstFault(checker, payload)}`)
  if (isUnstorableJson(JSON.stringify(payload))) {
    throw new Refused('payload: text with NUL or half a character')
  }
  for (const [index, item] of payload.entries()) {
    for (const name of instants) {
      const at = item[name] as number
      if (at >= first_at && at <= last_at) continue
      throw new Refused(`${index}: ${name}: ${shown(at)} is out of range`)
    }
  }
  return payload
}

/** Stores the newest report of each setpoint. */
export async function storeDispatches(
  transaction: Transaction,
  site_id: string,
  reports: readonly DispatchReport[],
): Promise<void> {
  if (reports.length === 0) return
  const newest = new Map<string, DispatchReport>()
  for (const report of reports) {
    const key = `${report.bess_id}/${report.issued_at}`
    const known = newest.get(key)
    if (!known || report.reported_at >= known.reported_at) newest.set(key, report)
  }
  await transaction.execute(putDispatches, [site_id, jsonOf([...newest.values()])])
}

const told = [
  'reported_at',
  'schedule_id',
  'interval_start_at',
  'source',
  'requested_power_kw',
  'clamped_power_kw',
  'clamp_reason',
  'sent_at',
  'acknowledged_at',
  'achieved_power_kw',
  'achieved_at',
  'soc_pct',
  'status',
  'failure_code',
]

const putDispatches = `
  insert into battery_dispatches as d (site_id, bess_id, issued_at, ${told.join(', ')})
  select $1, bess_id, issued_at, ${told.join(', ')}
  from jsonb_populate_recordset(null::battery_dispatches, $2::jsonb)
  order by bess_id, issued_at
  on conflict (site_id, bess_id, issued_at) do update
    set ${told.map((name) => `${name} = excluded.${name}`).join(', ')}
    where d.reported_at <= excluded.reported_at`

/** A note that was told before is the same one. */
export async function storeNotes(
  transaction: Transaction,
  site_id: string,
  all: readonly ControlNote[],
): Promise<void> {
  if (all.length === 0) return
  const columns = Object.keys(ControlNote.properties).join(', ')
  await transaction.execute(
    `insert into battery_control_notes (site_id, ${columns})
     select $1, ${columns}
     from jsonb_populate_recordset(null::battery_control_notes, $2::jsonb)
     order by bess_id, at, nth
     on conflict do nothing`,
    [site_id, jsonOf(all)],
  )
}

/**
 * Keeps what each unit is set to now, since when it is set so, and when that was read last. That it
 * was read again counts only where what was read is here: it may still be in the backlog of the
 * edge, which comes behind what is live.
 */
export async function storeSetups(
  transaction: Transaction,
  site_id: string,
  all: readonly SetupReport[],
): Promise<void> {
  for (const one of all.toSorted((a, b) => a.bess_id - b.bess_id)) {
    if ('told_at' in one) {
      await transaction.execute(
        `update battery_setups set read_at = $3
         where site_id = $1 and bess_id = $2 and read_at < $3 and read_at >= $4`,
        [site_id, one.bess_id, isoTime(one.read_at), isoTime(one.told_at)],
      )
      continue
    }
    const { bess_id, read_at, ...setup } = one
    await transaction.execute(
      `insert into battery_setups as s (site_id, bess_id, read_at, changed_at, setup)
       values ($1, $2, $3, $3, $4::jsonb)
       on conflict (site_id, bess_id) do update
         set read_at = excluded.read_at, setup = excluded.setup,
           changed_at = case when s.setup = excluded.setup then s.changed_at
                             else excluded.read_at end
         where s.read_at < excluded.read_at`,
      [site_id, bess_id, isoTime(read_at), JSON.stringify(setup)],
    )
  }
}

/** As PostgreSQL reads them: what ends in `at` is an instant. */
const jsonOf = (rows: readonly object[]) =>
  JSON.stringify(rows, (name, value) =>
    (name === 'at' || name.endsWith('_at')) && typeof value === 'number' ? isoTime(value) : value,
  )
