/**
 * A site as the server hears of it in a week of June on a virtual clock: two plants, a sensor node,
 * a battery and a market, healthy but for the faults of a list. Every half hour what an edge would
 * have told is stored.
 */

import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { solarPosition } from '@heliograph/physics/solar-position'
import { addBatteries, bessValues } from '@heliograph/server/batteries/fixtures/battery-site'
import type { Database } from '@heliograph/server/storage/database'
import { ensurePartitions } from '@heliograph/server/storage/partitions'

const monday = Date.UTC(2026, 5, 15)
/** From one look to the next. */
export const step_ms = 30 * minute_ms

/** When it is looked at; at night, when nothing happens, every hour. */
export function* looks(): Generator<number> {
  for (let now_ms = monday; now_ms <= monday + 7 * 24 * hour_ms; now_ms += step_ms) {
    const hour = new Date(now_ms).getUTCHours()
    if (now_ms % hour_ms === 0 || (hour >= 3 && hour < 20)) yield now_ms
  }
}

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Day = (typeof days)[number]
/** `tue 08:30`, UTC. */
export type Time = `${Day} ${number}:${number}`

export function instant(time: Time): Date {
  const [day, clock] = time.split(' ') as [Day, string]
  const [hours, minutes] = clock.split(':').map(Number)
  return new Date(monday + (24 * days.indexOf(day) + hours!) * hour_ms + minutes! * minute_ms)
}

export type Fault =
  | { is: 'plant_silent'; logger_id: number }
  | { is: 'inverter_silent'; inverter_id: number }
  | { is: 'inverter_fault'; inverter_id: number }
  | { is: 'string_dead'; inverter_id: number; string_index: number }
  | { is: 'fan_stands' }
  | { is: 'door_open' }
  | { is: 'edge_lost' }
  | { is: 'battery_alarm' }
  | { is: 'negative_price' }
  | { is: 'prices_late' }
export type FaultSpan = Fault & { from: Time; to: Time }

const inverters = [7, 8, 9, 10].map((inverter_id) => ({
  inverter_id,
  logger_id: inverter_id < 9 ? 2 : 3,
}))
const strings = [1, 2, 3, 4]

const readings = ['inverter', 'string', 'node', 'bess'].map((kind) => `${kind}_readings`)

export async function buildPlant(db: Database, faults: readonly FaultSpan[]): Promise<void> {
  await ensurePartitions(
    db,
    readings,
    new Date(monday - 24 * hour_ms),
    new Date(monday + 8 * 24 * hour_ms),
  )
  await db.query(`
    insert into clients (name, modules) values ('Owner', '{basic_scada}');
    insert into sites (site_id, client_id, name, inventory) values ('demo', 1, 'Park',
      '{"timezone":"Europe/Berlin","latitude":48.6,"longitude":12.2,"currency":"EUR"}');
    insert into edges (site_id, edge_id, name, secret_sha256, connected_at, last_seen_at)
    values ('demo', '00000000000a', 'Edge', '', '2026-06-14', '2026-06-14');
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at) select 'demo', id, 'Plant ' || id, 200, 80, '2026-01-01', '2026-01-01'
    from unnest('{2,3}'::int[]) as id;
    insert into inverters (site_id, inverter_id, logger_id, name, rated_ac_power_kw, phase_count,
      mppt_count, string_count, dc_capacity_kwp, driver, modbus_unit_id, created_at, updated_at)
    select 'demo', id, case when id < 9 then 2 else 3 end, 'I-' || id, 50, 3, 2, 4, 40, 'sunspec',
      id, '2026-01-01', '2026-01-01' from unnest('{7,8,9,10}'::int[]) as id;
    insert into strings (site_id, inverter_id, string_index, mppt_index, connected, module_count,
      params_id, dc_capacity_kwp, azimuth_deg, tilt_deg, updated_at)
    select 'demo', id, s, (s + 1) / 2, true, 20, 1, 10, 180, 25, '2026-01-01'
    from unnest('{7,8,9,10}'::int[]) as id, generate_series(1, 4) as s;
    insert into device_status (site_id, kind, id, comm_state, since_at, updated_at)
    select 'demo', 'inverter', id::text, 'disconnected', '2026-06-14', '2026-06-14'
    from unnest('{7,8,9,10}'::int[]) as id;
    insert into nodes (site_id, node_id, node_number, name, type, logger_id, report_s, channels,
      created_at, updated_at)
    values ('demo', 'ts-1', 1, 'TS 1', 'transformer_station', 2, 60, '[
      {"channel":"air","kind":"temperature","label":"Air","role":"ambient"},
      {"channel":"fan","kind":"fan_current","label":"Fan","relay":"k1"},
      {"channel":"k1","kind":"relay","label":"Relay"},
      {"channel":"door","kind":"door","label":"Door"}]', '2026-01-01', '2026-01-01');
    insert into markets (market_code, name, currency, timezone, resolution_minutes,
      publication_local)
    values ('XX', 'Test', 'EUR', 'Europe/Berlin', 60, '12:57');
    insert into market_assignments (site_id, logger_id, market_code, contract_type, currency,
      pays_at_negative_price, valid_from)
    values ('demo', 2, 'XX', 'spot', 'EUR', true, '2026-01-01')`)
  await addBatteries(db)
  await db.execute('delete from batteries where bess_id <> 1')
  await publish(db, faults, { from_ms: monday - 26 * hour_ms, hours: 24 })
  // The evening before, when all of it was well.
  for (const before_h of [6, 5.5, 5, 4.5]) await tell(db, faults, monday - before_h * hour_ms)
}

/** What the server knows of the site at an instant. */
export async function tell(db: Database, faults: readonly FaultSpan[], now_ms: number) {
  const holding = faults.filter(({ from, to }) => +instant(from) <= now_ms && now_ms < +instant(to))
  const holds = (is: Fault['is']) => holding.some((fault) => fault.is === is)
  await publishWhenDue(db, faults, now_ms, holds('prices_late'))
  await tellAlarm(db, faults, now_ms)
  if (holds('edge_lost')) return
  const was_lost = faults.some(({ is, to }) => is === 'edge_lost' && +instant(to) === now_ms)
  const measured_at = new Date(now_ms - 5000).toISOString()
  const { apparent_elevation_deg } = solarPosition(now_ms, 48.6, 12.2, { elevation_m: 400 })
  const light = Math.sin((Math.max(0, apparent_elevation_deg) * Math.PI) / 180)
  const answering =
    apparent_elevation_deg < 2 ? [] : inverters.filter((one) => answers(one, holding))
  const readings = answering.map(({ inverter_id }) => {
    const is_faulty = holding.some(
      (fault) => fault.is === 'inverter_fault' && fault.inverter_id === inverter_id,
    )
    const state = is_faulty ? 'fault' : 'mppt'
    const ac_power_kw = is_faulty ? 0 : 40 * light
    return { inverter_id, state, ac_power_kw, limited_by: 'none' }
  })
  const currents = answering.map(({ inverter_id }) => ({
    inverter_id,
    first_string_index: 1,
    current_a: strings.map((string_index) =>
      holding.some(
        (fault) =>
          fault.is === 'string_dead' &&
          fault.inverter_id === inverter_id &&
          fault.string_index === string_index,
      )
        ? 0
        : 9 * light,
    ),
  }))
  const channel_values = [25, holds('fan_stands') ? 0 : 0.7, 1, holds('door_open') ? 1 : 0]
  await put(db, 'inverter', measured_at, readings)
  await put(db, 'string', measured_at, currents)
  await put(db, 'node', measured_at, [{ node_number: 1, channel_values }])
  const alarm_1 = holds('battery_alarm') ? 2 : 0
  await put(db, 'bess', measured_at, [{ bess_id: 1, ...bessValues({ alarm_1 }) }])
  const ids = answering.map(({ inverter_id }) => String(inverter_id))
  await db.execute(
    `with said as (select id, case when id = any($2) then 'connected' else 'disconnected' end as now
       from device_status where site_id = 'demo')
     update device_status d set comm_state = s.now, since_at = $1, updated_at = $1
     from said s where d.site_id = 'demo' and s.id = d.id and s.now <> d.comm_state`,
    [measured_at, ids],
  )
  await db.execute(
    `update edges set last_seen_at = $1::timestamptz,
       connected_at = case when $2 then $1::timestamptz - interval '5 minutes' else connected_at end`,
    [measured_at, was_lost],
  )
  await db.execute(
    `update curtailment_rows set reported_at = $1, last_checked_at = $1
     where applied_at is not null and end_at > $1`,
    [measured_at],
  )
}

const answers = (
  { inverter_id, logger_id }: (typeof inverters)[number],
  holding: readonly FaultSpan[],
) =>
  !holding.some(
    (fault) =>
      (fault.is === 'plant_silent' && fault.logger_id === logger_id) ||
      (fault.is === 'inverter_silent' && fault.inverter_id === inverter_id),
  )

async function put(db: Database, kind: string, measured_at: string, rows: readonly object[]) {
  const frame = { site_id: 'demo', measured_at, received_at: measured_at, quality: 'good' }
  const records = JSON.stringify(rows.map((row) => ({ ...frame, ...row })))
  await db.execute(
    `insert into ${kind}_readings
     select * from jsonb_populate_recordset(null::${kind}_readings, $1)`,
    [records],
  )
  const id = kind === 'node' ? 'node_number' : kind === 'bess' ? 'bess_id' : 'inverter_id'
  await db.execute(
    `delete from ${kind}_latest where ${id} in
       (select ${id} from jsonb_populate_recordset(null::${kind}_latest, $1))`,
    [records],
  )
  await db.execute(
    `insert into ${kind}_latest select * from jsonb_populate_recordset(null::${kind}_latest, $1)`,
    [records],
  )
}

/** At 10:57 UTC those of the day after, unless they are late. */
async function publishWhenDue(
  db: Database,
  faults: readonly FaultSpan[],
  now_ms: number,
  is_late: boolean,
) {
  const day_start_ms = Math.floor(now_ms / (24 * hour_ms)) * 24 * hour_ms
  const from_ms = day_start_ms + 22 * hour_ms
  if (is_late || now_ms < day_start_ms + 11 * hour_ms) return
  const [known] = await db.query(
    "select from market_prices where market_code = 'XX' and start_at = $1",
    [new Date(from_ms)],
  )
  if (!known) await publish(db, faults, { from_ms, hours: 24 })
}

function publish(
  db: Database,
  faults: readonly FaultSpan[],
  { from_ms, hours }: { from_ms: number; hours: number },
) {
  const starts = Array.from({ length: hours }, (_, nth) => from_ms + nth * hour_ms)
  const isNegative = (ms: number) =>
    faults.some(
      ({ is, from, to }) => is === 'negative_price' && +instant(from) <= ms && ms < +instant(to),
    )
  return db.execute(
    `insert into market_prices (market_code, kind, start_at, revision, end_at, price, source,
       fetched_at)
     select 'XX', 'day_ahead', p.at, 1, p.at + interval '1 hour', p.price, 'csv', $3
     from unnest($1::timestamptz[], $2::numeric[]) as p (at, price)`,
    [
      starts.map((ms) => new Date(ms)),
      starts.map((ms) => (isNegative(ms) ? -20 : 60)),
      new Date(from_ms),
    ],
  )
}

/** The edge tells when an alarm of the battery begins and ends. */
async function tellAlarm(db: Database, faults: readonly FaultSpan[], now_ms: number) {
  for (const { is, from, to } of faults) {
    if (is !== 'battery_alarm') continue
    const edge = { [+instant(from)]: 'rising', [+instant(to)]: 'falling' }[now_ms]
    if (!edge) continue
    await db.execute(
      `insert into events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
         message)
       values ('demo', $1, $1, 'bess', '1', 'alarm:sunspec-battery-802:1:1', $2, 'major', 'x')`,
      [new Date(now_ms), edge],
    )
  }
}

/** A row of plant 2, as the edge carries it out, or does not. */
export async function curtail(
  db: Database,
  { from, to, is_applied }: { from: Time; to: Time; is_applied: boolean },
) {
  const applied_at = is_applied ? new Date(+instant(from) + 1000) : null
  // The edge confirms the end of a row that it could not apply, too.
  const restored_at = new Date(+instant(to) + 2000)
  const created_at = new Date(+instant(from) - hour_ms)
  await db.execute(
    `insert into curtailment_groups (site_id, group_id, source, created_at)
     values ('demo', $1, 'api', $2)`,
    [from, created_at],
  )
  await db.execute(
    `insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw,
       told_at, acknowledged_at, applied_at, verified_at, restored_at)
     values ('demo', $1, 2, $2, $3, 90, $4, $4, $5, $5, $6)`,
    [from, instant(from), instant(to), created_at, applied_at, restored_at],
  )
}

export async function planWork(
  db: Database,
  { inverter_id, from, to }: { inverter_id: number; from: Time; to: Time },
) {
  await db.execute(
    `insert into work_orders (site_id, number, title, description, type, priority, status,
       created_by, created_at, updated_at, inverter_id, scheduled_start_at, scheduled_end_at)
     values ('demo', $1, 'Inspection', '', 'inspection', 'normal', 'assigned', 'test', now(), now(),
       $2, $3, $4)`,
    [`WO-${inverter_id}`, inverter_id, instant(from), instant(to)],
  )
}
