/**
 * The question about an exchanged device: open until a person, `site.yaml` or the return of the
 * former device answers it.
 */
import type { Queries, Transaction } from '../storage/database.ts'
import type { Device } from './device-exchanges.ts'

/** `same_place`: a new device in the place of the former one. */
export const exchangeAnswers = ['same_place', 'wrong_wiring'] as const
type Answer = (typeof exchangeAnswers)[number]

interface SerialChange {
  changed_at: Date
  old_serial_number: string
  serial_number: string
  answer: Answer | null
  answered_at: Date | null
  answered_by: string | null
}

/** The serial number that answers at a device is not the one that is accepted for it. */
interface OpenExchange {
  /** The accepted one. */
  old_serial_number: string
  serial_number: string
  since_at: Date
  /** Null until a person reports wrong wiring. */
  wrong_wiring_at: Date | null
  wrong_wiring_by: string | null
}

/** The question that the changes of one device, ascending, leave open. */
function openExchange(changes: readonly SerialChange[]): OpenExchange | null {
  const [first] = changes
  const last = changes.at(-1)
  if (!first || !last) return null
  const confirmed = changes.findLast(({ answer }) => answer === 'same_place')
  const old_serial_number = confirmed?.serial_number ?? first.old_serial_number
  const { serial_number } = last
  if (serial_number === old_serial_number) return null
  // An edge that lost its memory reports a change again.
  const before = changes.findLastIndex((change) => change.serial_number !== serial_number)
  const same = changes.slice(before + 1)
  const wrong = same.findLast(({ answer }) => answer === 'wrong_wiring')
  return {
    old_serial_number,
    serial_number,
    since_at: same[0]!.changed_at,
    wrong_wiring_at: wrong?.answered_at ?? null,
    wrong_wiring_by: wrong?.answered_by ?? null,
  }
}

/** Devices whose serial number `site.yaml` may name. */
const inventories = [
  { kind: 'inverter', table: 'inverters', key: 'inverter_id' },
  { kind: 'station', table: 'stations', key: 'station_id' },
  { kind: 'meter', table: 'meters', key: 'meter_id' },
  { kind: 'bess', table: 'batteries', key: 'bess_id' },
] as const

const named = inventories
  .map(
    ({ kind, table, key }) =>
      `select '${kind}' as kind, ${key}::text as device_id, serial_number from ${table}
       where site_id = $1 and serial_number is not null`,
  )
  .join(' union all ')

/** Answers the questions about devices whose new serial number `site.yaml` names. */
export async function confirmNamedDevices(
  transaction: Transaction,
  site_id: string,
  at: Date,
): Promise<void> {
  await transaction.execute(
    `update device_exchanges x
     set answer = 'same_place', answered_at = $2, answered_by = 'site.yaml'
     from (${named}) as named
     where x.site_id = $1 and x.kind = named.kind and x.device_id = named.device_id
       and x.serial_number = named.serial_number and x.answer is distinct from 'same_place'`,
    [site_id, at],
  )
}

type StoredChange = Device & SerialChange

/** Open questions about the devices in service, by kind and id. */
export async function readOpenExchanges(
  db: Queries,
  site_id: string,
): Promise<(Device & OpenExchange)[]> {
  const changes = await db.query<StoredChange>(changesInService, [site_id])
  const devices = Map.groupBy(changes, ({ kind, device_id }) => `${kind} ${device_id}`)
  return [...devices.values()].flatMap((own) => {
    const { kind, device_id } = own[0]!
    const open = openExchange(own)
    return open ? [{ kind, device_id, ...open }] : []
  })
}

const inService = (table: string, is_own: string) =>
  `exists (select from ${table} d where d.site_id = $1 and ${is_own} and d.retired_at is null)`
/** A part of a battery unit, such as `1.cluster.0`, belongs to its unit. */
const unit = inService('batteries', "d.bess_id::text = split_part(x.device_id, '.', 1)")

const changesInService = {
  name: 'exchanges_in_service',
  text: `
    select kind, device_id, changed_at, old_serial_number, serial_number, answer, answered_at,
      answered_by
    from device_exchanges x
    where site_id = $1 and case kind
      when 'logger' then ${inService('loggers', 'd.logger_id::text = x.device_id')}
      when 'inverter' then ${inService('inverters', 'd.inverter_id::text = x.device_id')}
      when 'combiner' then ${inService('strings', 'd.combiner_id = x.device_id')}
      when 'station' then ${inService('stations', 'd.station_id::text = x.device_id')}
      when 'meter' then ${inService('meters', 'd.meter_id::text = x.device_id')}
      when 'bess' then ${unit}
      when 'pcs' then ${unit}
      else true end
    order by kind, device_id, changed_at`,
} as const

interface GivenAnswer extends Device {
  site_id: string
  serial_number: string
  answer: Answer
  now: Date
  by: string
}

/**
 * Answers the open question about a device. `same_place` also puts the serial number into the
 * inventory, until the next announcement of `site.yaml`. Returns null without an open question
 * about this serial number, else whether `site.yaml` names another serial number.
 */
export async function answerExchange(
  transaction: Transaction,
  { site_id, kind, device_id, serial_number, answer, now, by }: GivenAnswer,
): Promise<{ site_file_is_outdated: boolean } | null> {
  const open = (await readOpenExchanges(transaction, site_id)).find(
    (one) =>
      one.kind === kind && one.device_id === device_id && one.serial_number === serial_number,
  )
  if (!open) return null
  await transaction.execute(
    `update device_exchanges set answer = $5, answered_at = $6, answered_by = $7
     where site_id = $1 and kind = $2 and device_id = $3 and serial_number = $4
       and changed_at = (select max(changed_at) from device_exchanges
         where site_id = $1 and kind = $2 and device_id = $3 and serial_number = $4)`,
    [site_id, kind, device_id, serial_number, answer, now, by],
  )
  const inventory = inventories.find((one) => one.kind === kind)
  if (!inventory) return { site_file_is_outdated: false }
  const { table, key } = inventory
  const ofDevice = `where site_id = $1 and ${key}::text = $2`
  const known = await transaction.queryOne<{ serial_number: string | null }>(
    `select serial_number from ${table} ${ofDevice}`,
    [site_id, device_id],
  )
  if (answer === 'same_place') {
    await transaction.execute(
      `update ${table} set serial_number = $3, updated_at = $4 ${ofDevice}
         and serial_number is distinct from $3`,
      [site_id, device_id, serial_number, now],
    )
  }
  const named_number = known?.serial_number ?? serial_number
  return { site_file_is_outdated: named_number !== serial_number }
}
