/**
 * Thins a week of readings: of each device and step of time the last reading stays that is not
 * suspect, or else the last, as it was measured. No value is computed, none is altered.
 *
 * The thinned week is written aside, a device at a time, and takes the place of the whole one in a
 * short transaction. Meanwhile a trigger notes the devices of which readings arrive for the week;
 * these are done again before. Whatever is cut short goes on where it was: what is written aside is
 * the record of how far it came.
 */
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { boundsOf, partitionName, type Week } from '../storage/partitions.ts'

/** The last step of the tiers is the longest: what is thinned to it is thinned to the others. */
const thinning_steps_s = [60, 3600] as const
export type ThinningStep = (typeof thinning_steps_s)[number]

export interface Thinning {
  kind: ReadingKind
  week: Week
  step_s: ThinningStep
}

/** Readers and writers of the table wait this long at most, each time. */
const lock_ms_max = 1000
/** Readings that arrive for the week, and long readers of the table, can be in the way. */
const swaps_max = 5

/** The steps to which partitions were thinned, by their names. */
export async function thinnedSteps(db: Queries): Promise<Map<string, number>> {
  const rows = await db.query<{ name: string; step_s: number }>(
    'select name, step_s from thinned_partitions',
  )
  return new Map(rows.map(({ name, step_s }) => [name, step_s]))
}

/**
 * Thins the partition of a week, which has to be final. `goesOn` is asked between devices; false
 * when it said no and the rest is left to another call. One process at a time.
 * @throws {Error} when the table was in use for too long; what was done is kept for another call
 */
export async function thinWeek(
  db: Database,
  thinning: Thinning,
  goesOn: () => boolean,
): Promise<boolean> {
  await prepare(db, thinning)
  const { aside } = namesOf(thinning)
  for (;;) {
    const device = await nextDevice(db, thinning)
    if (!device) break
    if (!goesOn()) return false
    await db.transaction((transaction) => thinDevice(transaction, thinning, device))
  }
  await db.execute(`analyze ${aside}`)
  for (let swap = 1; ; swap += 1) {
    if (!(await thinLateDevices(db, thinning, goesOn))) return false
    try {
      if (await db.transaction((transaction) => swapIn(transaction, thinning))) return true
    } catch (error) {
      if (!isInUse(error) || swap === swaps_max) throw error
    }
    if (swap === swaps_max) {
      throw new Error(`${namesOf(thinning).whole}: readings arrive faster than they are thinned`)
    }
  }
}

/** Takes away what was begun or noted of a partition that is dropped. */
export async function forgetThinning(transaction: Transaction, name: string): Promise<void> {
  await dropAsides(transaction, name)
  await transaction.execute('delete from late_devices where name = $1', [name])
  await transaction.execute('delete from thinned_partitions where name = $1', [name])
}

const asideName = (whole: string, step_s: number) => `${whole}_every_${step_s}s`

function namesOf({ kind, week, step_s }: Thinning) {
  const { table, keys } = readingKinds[kind]
  const whole = partitionName(table, week)
  return { table, keys, device: keys[0], whole, aside: asideName(whole, step_s) }
}

async function dropAsides(transaction: Transaction, whole: string): Promise<void> {
  for (const step_s of thinning_steps_s) {
    await transaction.execute(`drop table if exists ${asideName(whole, step_s)}`)
  }
}

/** From its end on every reading that arrives for the week is noted. */
async function prepare(db: Database, thinning: Thinning): Promise<void> {
  const { table, device, whole, aside } = namesOf(thinning)
  const { start, end } = thinning.week
  await db.transaction(async (transaction) => {
    const [found] = await transaction.query<{ is_there: boolean }>(
      'select to_regclass($1) is not null as is_there',
      [aside],
    )
    if (found!.is_there) return
    await dropAsides(transaction, whole)
    await transaction.execute(`set local lock_timeout = ${lock_ms_max}`)
    // The constraint spares the week a look at every row when it is attached.
    await transaction.execute(
      `create table ${aside} (
         like ${table} including all excluding identity,
         constraint within_week check (
           measured_at >= '${start.toISOString()}' and measured_at < '${end.toISOString()}'));
       create or replace trigger note_late_devices after insert on ${whole}
         for each row execute function note_late_device('${device}')`,
    )
    await transaction.execute('delete from late_devices where name = $1', [whole])
  })
}

interface Device {
  site_id: string
  device_id: number
}

/** Devices are written aside in this order; null when all are. */
async function nextDevice(db: Database, thinning: Thinning): Promise<Device | null> {
  const { device, whole, aside } = namesOf(thinning)
  const [last] = await db.query<Device>(
    `select site_id, ${device} as device_id from ${aside}
     order by site_id desc, ${device} desc limit 1`,
  )
  const [next] = await db.query<Device>(
    `select site_id, ${device} as device_id from ${whole}
     ${last ? `where (site_id, ${device}) > ($1, $2)` : ''}
     order by site_id, ${device} limit 1`,
    last ? [last.site_id, last.device_id] : [],
  )
  return next ?? null
}

async function thinDevice(
  transaction: Transaction,
  thinning: Thinning,
  { site_id, device_id }: Device,
): Promise<void> {
  const { keys, device, whole, aside } = namesOf(thinning)
  const names = ['site_id', ...keys].join(', ')
  await transaction.execute('set local statement_timeout = 0')
  await transaction.execute(
    `insert into ${aside}
     select r.* from (
       select ${names},
         coalesce(max(measured_at) filter (where quality <> 'suspect'), max(measured_at))
           as measured_at
       from ${whole} where site_id = $1 and ${device} = $2
       group by ${names}, date_bin($3::int * interval '1 second', measured_at, 'epoch')
     ) as kept join ${whole} r using (${names}, measured_at)
     order by measured_at`,
    [site_id, device_id, thinning.step_s],
  )
}

/** Does those devices again of which readings were noted, until there are none. */
async function thinLateDevices(
  db: Database,
  thinning: Thinning,
  goesOn: () => boolean,
): Promise<boolean> {
  const { device, whole, aside } = namesOf(thinning)
  for (;;) {
    const late = await readLate(db, whole)
    if (late.length === 0) return true
    for (const each of late) {
      if (!goesOn()) return false
      const values = [each.site_id, each.device_id]
      await db.transaction(async (transaction) => {
        // Who notes it again waits for the end of this, and what he noted is seen next time.
        await transaction.execute(
          'delete from late_devices where site_id = $1 and device_id = $2 and name = $3',
          [...values, whole],
        )
        await transaction.execute(
          `delete from ${aside} where site_id = $1 and ${device} = $2`,
          values,
        )
        await thinDevice(transaction, thinning, each)
      })
    }
  }
}

function readLate(db: Queries, whole: string): Promise<Device[]> {
  return db.query<Device>(
    'select site_id, device_id from late_devices where name = $1 order by 1, 2',
    [whole],
  )
}

/** False when readings arrived that are not yet among the thinned ones. */
async function swapIn(transaction: Transaction, thinning: Thinning): Promise<boolean> {
  const { table, whole, aside } = namesOf(thinning)
  await transaction.execute(`set local lock_timeout = ${lock_ms_max}`)
  // Waits for whoever is storing readings; from here on nobody is.
  await transaction.execute(`lock table only ${table} in access exclusive mode`)
  if ((await readLate(transaction, whole)).length > 0) return false
  await transaction.execute(
    `alter table ${table} detach partition ${whole};
     drop table ${whole};
     alter table ${aside} rename to ${whole};
     alter table ${table} attach partition ${whole} ${boundsOf(thinning.week)};
     alter table ${whole} drop constraint within_week`,
  )
  await transaction.execute(
    `insert into thinned_partitions (name, step_s) values ($1, $2)
     on conflict (name) do update set step_s = excluded.step_s`,
    [whole, thinning.step_s],
  )
  return true
}

/** A lock was not to be had in time, or two waited for each other. */
const isInUse = (error: unknown) =>
  ['55P03', '40P01'].includes(String((error as { code?: unknown } | null)?.code))
