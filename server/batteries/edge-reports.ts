/** Reports of edges on batteries: frames of kind `dispatch`, `control_notes`, `battery_setup`. */
import { SetupReport } from '@heliograph/domain/battery'
import { ControlNote, DispatchReport } from '@heliograph/domain/dispatch'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Transaction } from '../storage/database.ts'
import { nextIdOf } from '../storage/site-ids.ts'
import { isoTime, rowsJson } from '../storage/values.ts'
import { type Checker, checked, storableJson } from '../telemetry/first-fault.ts'
import { Refused, shown } from '../telemetry/refused.ts'
import { publishStored } from './published.ts'
import { scheduleById } from './schedules.ts'

const listOf = <Of extends TSchema>(item: Of) => Compile(Type.Array(item, { maxItems: 20_000 }))
const dispatches = listOf(DispatchReport)
const notes = listOf(ControlNote)
const setups = listOf(SetupReport)

interface Bounds {
  /** Unix ms. */
  first_at: number
  last_at: number
}

/** Each throws `Refused` for a payload that is no such list, or an item out of its time range. */
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
  const items = checked(checker, payload)
  storableJson(items)
  for (const [index, item] of items.entries()) {
    for (const name of instants) {
      const at = item[name] as number
      if (at >= first_at && at <= last_at) continue
      throw new Refused(`${index}: ${name}: ${shown(at)} is out of range`)
    }
  }
  return items
}

/** Stores the newest report of each setpoint. */
export async function storeDispatches(
  transaction: Transaction,
  site_id: string,
  reports: readonly DispatchReport[],
): Promise<void> {
  if (reports.length === 0) return
  const ascending = reports.toSorted((a, b) => a.reported_at - b.reported_at)
  const newest = new Map(ascending.map((one) => [`${one.bess_id}/${one.issued_at}`, one]))
  const schedule_ids = new Set(ascending.flatMap(({ schedule_id }) => schedule_id ?? []))
  const waiting = await transaction.query<{ schedule_id: number }>(unreported, [
    site_id,
    [...schedule_ids],
  ])
  await transaction.execute(putDispatches, [site_id, rowsJson([...newest.values()])])
  const now = new Date(ascending.at(-1)!.reported_at)
  for (const { schedule_id } of waiting) {
    const row = (await scheduleById(transaction, { site_id, schedule_id }))!
    await publishStored(transaction, { site_id, now }, 'started', row)
  }
}

/** Approved schedules that no edge has reported on. */
const unreported = `
  select schedule_id from battery_schedules s
  where site_id = $1 and schedule_id = any ($2) and approved_at is not null
    and not exists (select from battery_dispatches d
      where d.site_id = s.site_id and d.bess_id = s.bess_id and d.schedule_id = s.schedule_id
        and d.issued_at >= s.target_date::timestamp at time zone 'UTC' - interval '1 hour')
  order by schedule_id`

const { bess_id, issued_at, ...progress } = DispatchReport.properties
const reported = Object.keys(progress)

const putDispatches = `
  insert into battery_dispatches as d (site_id, dispatch_id, bess_id, issued_at, ${reported.join(', ')})
  select $1, ${nextIdOf('site', '$1')}, bess_id, issued_at, ${reported.join(', ')}
  from jsonb_populate_recordset(null::battery_dispatches, $2::jsonb)
  order by bess_id, issued_at
  on conflict (site_id, bess_id, issued_at) do update
    set ${reported.map((name) => `${name} = excluded.${name}`).join(', ')}
    where d.reported_at <= excluded.reported_at`

/** A note that is reported again is not stored again. */
export async function storeNotes(
  transaction: Transaction,
  site_id: string,
  all: readonly ControlNote[],
): Promise<void> {
  if (all.length === 0) return
  const columns = Object.keys(ControlNote.properties).join(', ')
  await transaction.execute(
    `insert into battery_control_notes (site_id, log_id, ${columns})
     select $1, ${nextIdOf('site', '$1')}, ${columns}
     from jsonb_populate_recordset(null::battery_control_notes, $2::jsonb)
     order by bess_id, at, nth
     on conflict do nothing`,
    [site_id, rowsJson(all)],
  )
}

/**
 * Stores the newest settings of each unit. A repeated reading counts only if the settings that it
 * repeats are stored: they may still be in the backlog of the edge.
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
