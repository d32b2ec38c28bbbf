/**
 * Thins a week of readings: for each device and time step the last reading that is not suspect
 * stays, else the last reading, unchanged.
 *
 * The thinned week is written to a separate table, a device at a time, and replaces the partition
 * in a short transaction. Meanwhile a trigger records the devices with late readings for the week;
 * these are thinned again before the swap. An interrupted run continues from the separate table.
 */
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { boundsOf, partitionName, type Week } from '../storage/partitions.ts'

/** Ascending: a partition thinned to a longer step is thinned to the shorter ones as well. */
const thinning_steps_s = [60, 3600] as const
export type ThinningStep = (typeof thinning_steps_s)[number]

export interface Thinning {
  kind: ReadingKind
  week: Week
  step_s: ThinningStep
}

/** Limits each wait of the readers and writers of the table. */
const lock_ms_max = 1000
/** Late readings and long readers of the table can prevent a swap. */
const swaps_max = 5

/** The step of each thinned partition, by name. */
export async function thinnedSteps(db: Queries): Promise<Map<string, number>> {
  const rows = await db.query<{ name: string; step_s: number }>(
    'select name, step_s from thinned_partitions',
  )
  return new Map(rows.map(({ name, step_s }) => [name, step_s]))
}

/**
 * Thins the partition of a final week, in one process at a time. Returns false when `goesOn`,
 * called between devices, returned false; another call continues.
 *
 * @throws {Error} if the table was in use for too long; another call continues
 */
export async function thinWeek(db: Database, thinning: Thinning, goesOn: () => boolean) {
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

/** Deletes the state of the thinning of a dropped partition. */
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

/** Creates the separate table and the trigger that records devices with late readings. */
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
    // The constraint avoids a scan of every row when the table is attached.
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

/** The next device in the order of the separate table; null when all are written. */
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

/** Thins devices with late readings again, until there are none. */
async function thinLateDevices(db: Database, thinning: Thinning, goesOn: () => boolean) {
  const { device, whole, aside } = namesOf(thinning)
  for (;;) {
    const late = await readLate(db, whole)
    if (late.length === 0) return true
    for (const each of late) {
      if (!goesOn()) return false
      const values = [each.site_id, each.device_id]
      await db.transaction(async (transaction) => {
        // A new record of the device waits for this transaction and is seen in the next round.
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

/** Returns false if late readings are not thinned yet. */
async function swapIn(transaction: Transaction, thinning: Thinning): Promise<boolean> {
  const { table, whole, aside } = namesOf(thinning)
  await transaction.execute(`set local lock_timeout = ${lock_ms_max}`)
  // Waits for the transactions that store readings and blocks new ones.
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

/** Lock timeout or deadlock. */
export const isInUse = (error: unknown) =>
  ['55P03', '40P01'].includes(String((error as { code?: unknown } | null)?.code))
