import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { sunspecInverter } from '@heliograph/domain/alarms/sunspec-inverter'
import { hour_ms } from '@heliograph/domain/durations'
import { testDatabase } from '../../../test/postgres.ts'
import { type StringLayout, sumStrings } from '../../performance/diagnostics/string-sums.ts'
import { encodeStrings, string_layout } from '../../performance/rollups/string-codec.ts'
import type { Database } from '../../storage/database.ts'
import { ensurePartitions } from '../../storage/partitions.ts'
import { type AlertSource, dedupKey, type Finding, type OpenAlert } from '../finding.ts'
import { settingsInForce } from '../settings.ts'
import { findCommunication } from './communication.ts'
import { findDataGaps } from './data-gaps.ts'
import { findInverterAlarms } from './inverter-alarms.ts'
import { findPerformance } from './performance.ts'
import { findStrings } from './strings.ts'

const now = new Date('2026-06-21T11:00:00Z')
const at = now.toISOString()
const over_temp = 2 ** sunspecInverter.rows.find(({ code }) => code === 'OVER_TEMP')!.bit

/**
 * A plant of five inverters of four strings: 1 is in fault since 10:30, 2 is silent since 10:40, 3
 * has an alarm since 10:50, 4 is weak, and of 5 string 3 carries nothing since 10:20 and string 1
 * too little. Of a second plant nothing is known.
 */
async function site(t: TestContext): Promise<Database> {
  const { db, drop } = await testDatabase()
  t.after(drop)
  const tables = ['inverter_readings', 'string_readings']
  await ensurePartitions(db, tables, new Date('2026-06-20T00:00:00Z'), now)
  await db.query(`
    insert into clients (name, modules) values ('Owner', '{basic_scada}');
    insert into sites (site_id, client_id, name, inventory) values ('demo', 1, 'Park',
      '{"timezone":"Europe/Berlin","latitude":48.6,"longitude":12.2,"elevation_m":400}');
    insert into edges (site_id, edge_id, name, secret_sha256, connected_at, last_seen_at)
    values ('demo', '0123456789ab', 'Edge', '', '2026-06-20T00:00:00Z', '${at}');
    insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
      updated_at) values ('demo', 1, 'South', 200, 200, now(), now());
    insert into logger_latest (site_id, logger_id, measured_at, quality, poa_irradiance_w_m2,
      received_at) values ('demo', 1, '${at}', 'good', 800, '${at}');
    insert into inverters (site_id, inverter_id, logger_id, name, rated_ac_power_kw, phase_count,
      mppt_count, string_count, dc_capacity_kwp, driver, modbus_unit_id, created_at, updated_at)
    select 'demo', id, 1, 'INV-0' || id, 40, 3, 4, 4, 40, 'sunspec', id, now(), now()
    from generate_series(1, 5) as id;
    insert into strings (site_id, inverter_id, string_index, mppt_index, connected, module_count,
      params_id, dc_capacity_kwp, azimuth_deg, tilt_deg, updated_at)
    select 'demo', id, nth, nth, true, 24, 1, 10, 180, 25, now()
    from generate_series(1, 5) as id, generate_series(0, 3) as nth;
    insert into panel_models (site_id, params_id, name, manufacturer, technology, power_stc_w,
      cells_in_series, alpha_sc_a_per_c, a_ref_v, i_l_ref_a, i_o_ref_a, r_s_ohm, r_sh_ref_ohm,
      adjust_pct)
    values ('demo', 1, 'Panel', 'Maker', 'mono', 415, 72, 0.0038, 1.88754, 10.3144, 6.37936e-11,
      0.248753, 581.915, 22);
    insert into device_status (site_id, kind, id, comm_state, since_at, updated_at)
    select 'demo', 'inverter', id, case id when 2 then 'disconnected' else 'connected' end,
      '2026-06-21T03:00:00Z', '${at}' from generate_series(1, 5) as id;
    insert into inverter_readings (site_id, inverter_id, measured_at, quality, state, ac_power_kw,
      alarm_1)
    select 'demo', id, at, 'good',
      case when id = 1 and at >= '2026-06-21T10:30:00Z' then 'fault' else 'mppt' end,
      case when id = 1 and at >= '2026-06-21T10:30:00Z' then 0 else 30 end,
      case when id = 3 and at >= '2026-06-21T10:50:00Z' then ${over_temp} else 0 end
    from generate_series(1, 5) as id,
      generate_series('2026-06-21T03:00:00Z', '${at}'::timestamptz, interval '1 minute') as at
    where id <> 2 or at <= '2026-06-21T10:40:00Z';
    insert into inverter_latest (site_id, inverter_id, measured_at, quality, state, ac_power_kw,
      alarm_1, received_at)
    select distinct on (inverter_id) site_id, inverter_id, measured_at, quality, state, ac_power_kw,
      alarm_1, measured_at from inverter_readings order by inverter_id, measured_at desc;
    insert into string_readings (site_id, inverter_id, first_string_index, measured_at, quality,
      current_a, voltage_v)
    select 'demo', id, 0, at, 'good',
      array[6, 4, 6, case when id = 5 and at >= '2026-06-21T10:20:00Z' then 0 else 6 end]::real[],
      '{800, 800, 800, 800}'
    from generate_series(1, 5) as id,
      generate_series('2026-06-21T03:00:00Z', '${at}'::timestamptz, interval '1 minute') as at;
    insert into string_latest (site_id, inverter_id, first_string_index, measured_at, quality,
      current_a, voltage_v, received_at)
    select distinct on (inverter_id) site_id, inverter_id, 0, measured_at, quality, current_a,
      voltage_v, measured_at from string_readings order by inverter_id, measured_at desc;
    insert into gaps (site_id, logger_id, source_type, device_id, sub_id, source_id, start_at, end_at,
      widest_start_at, widest_end_at, widest_expected_count, step_s, expected_count, cause,
      during_daylight, status, detected_at, updated_at)
    select 'demo', 1, 'inverter', id, 0, id, '2026-06-21T06:00:00Z', '2026-06-21T08:00:00Z',
      '2026-06-21T06:00:00Z', '2026-06-21T08:00:00Z', 120, 60, 120, 'agent_stopped', true,
      'unrecoverable', now(), now()
    from generate_series(4, 5) as id;
  `)
  await addStation(db)
  await addSums(db)
  return db
}

async function addStation(db: Database) {
  const instruments = [
    {
      sensor_id: 'poa',
      name: 'POA',
      type: 'reference_cell',
      point: '302[0].POAI',
      quantity: 'poa_irradiance_w_m2',
      azimuth_deg: 180,
      tilt_deg: 25,
    },
    {
      sensor_id: 'air',
      name: 'Air',
      type: 'thermometer',
      point: '307.TmpAmb',
      quantity: 'ambient_temperature_c',
    },
  ]
  await db.execute(
    `insert into stations (site_id, station_id, logger_id, name, instruments, created_at, updated_at)
     values ('demo', 1, 1, 'Met', $1, now(), now())`,
    [JSON.stringify(instruments)],
  )
  await db.execute(
    `insert into weather_latest (site_id, station_id, measured_at, quality, instrument_values,
       received_at) values ('demo', 1, $1, 'good', '{800, 25}', $1)`,
    [now],
  )
}

/** Since 05:00: string 1 of inverter 5 gives two thirds, inverter 4 two thirds of the others. */
async function addSums(db: Database) {
  const layout = [0, 1, 2, 3].map(
    (string_index): StringLayout => ({
      string_index,
      mppt_index: string_index,
      rated_kw: 10,
      group: '',
      is_connected: true,
    }),
  )
  const samples = Array.from({ length: 62 }, (_, minute) => ({
    time_ms: (minute - 1) * 60_000,
    current_a: layout.map(
      ({ string_index }) =>
        (string_index === 1 ? 6 : 9) * (1 + ((minute + string_index) % 5) / 500),
    ),
    voltage_v: [800, 800, 800, 800],
    expected_kw: null,
    poa_w_m2: 800,
    is_limited: false,
  }))
  const sums = encodeStrings(sumStrings(layout, samples, { start_ms: 0, end_ms: hour_ms }))
  const stored = [string_layout, sums.sums.toString('hex')]
  await db.execute(
    `insert into string_hours (site_id, inverter_id, hour_at, string_count, layout, sums)
     select 'demo', 5, at, 4, $1, decode($2, 'hex')
     from generate_series('2026-06-21T05:00:00Z', '2026-06-21T10:00:00Z', interval '1 hour') as at`,
    stored,
  )
  await db.execute(
    `insert into string_days (site_id, inverter_id, local_date, string_count, layout, sums)
     values ('demo', 5, '2026-06-21', 4, $1, decode($2, 'hex'))`,
    stored,
  )
  const zeros = await db.query<{ name: string; data_type: string }>(
    `select column_name as name, data_type from information_schema.columns
     where table_name = 'inverter_hours' and is_nullable = 'NO'
       and column_name not in ('site_id', 'inverter_id', 'hour_at')`,
  )
  const known: Record<string, string> = {
    daylight_covered_s: '3600',
    sun_covered_s: '3600',
    insolation_kwh_m2: '0.8',
    reference_expected_kwh: '30',
    reference_ac_kwh: 'case id when 4 then 19 when 3 then 5 else 29 end',
    // 3 was in fault for a time, and held back for another: its hours say nothing.
    fault_s: "case when id = 3 and at < '2026-06-21T09:00:00Z' then 600 else 0 end",
    curtailed_s: "case when id = 3 and at >= '2026-06-21T09:00:00Z' then 600 else 0 end",
  }
  const values = zeros.map(
    ({ name, data_type }) => known[name] ?? (data_type === 'ARRAY' ? "'{}'" : '0'),
  )
  await db.execute(
    `insert into inverter_hours (site_id, inverter_id, hour_at, ${zeros.map(({ name }) => name)})
     select 'demo', id, at, ${values} from generate_series(1, 5) as id,
       generate_series('2026-06-21T05:00:00Z', '2026-06-21T10:00:00Z', interval '1 hour') as at`,
  )
}

const sources = {
  findCommunication,
  findInverterAlarms,
  findStrings,
  findPerformance,
  findDataGaps,
}

async function scanAt(db: Database, when = now) {
  const context = {
    db,
    now: when,
    settings: settingsInForce({}),
    site: {
      site_id: 'demo',
      timezone: 'Europe/Berlin',
      currency: 'EUR',
      latitude: 48.6,
      longitude: 12.2,
    },
  }
  const scans = new Map<string, Awaited<ReturnType<AlertSource>>>()
  for (const [name, scan] of Object.entries(sources)) scans.set(name, await scan(context))
  return scans
}

const findingsOf = (scans: Awaited<ReturnType<typeof scanAt>>) =>
  [...scans.values()].flatMap(({ findings }) => findings)
const shown = (findings: readonly Finding[]) =>
  findings.map((each) => `${dedupKey(each)} since ${each.since.toISOString().slice(11, 16)}`)

test('what is wrong with a plant is found once each, with when it began and what it costs', async (t) => {
  const db = await site(t)
  const findings = findingsOf(await scanAt(db))
  assert.deepEqual(shown(findings), [
    'inverter_offline:inverter:2 since 10:40',
    'inverter_fault:inverter:1 since 10:30',
    'inverter_alarm:inverter:3:OVER_TEMP since 10:50',
    'string_zero_current:string:5.3 since 10:20',
    'string_underperformance:string:5.1 since 05:00',
    'inverter_underperformance:inverter:4 since 08:00',
    'data_gap:logger:1:unrecoverable_agent_stopped since 06:00',
  ])
  const [offline, fault, alarm, zero, suspects, inverter] = findings
  assert.equal(offline?.affected_power_kw, undefined, 'nobody knows what it delivers')
  assert.ok(fault!.affected_power_kw! > 25 && fault!.affected_power_kw! < 33)
  assert.deepEqual([alarm?.vendor_codes, alarm?.affected_power_kw], [['OVER_TEMP'], undefined])
  assert.equal(
    zero?.message,
    "String 3 (counted from 0) of inverter 'INV-05' carries no current while its peers carry 6.0 A.",
  )
  // The median of the others of its inverter, which give 6, 4 and 6 A at 800 V.
  assert.equal(zero?.affected_power_kw?.toFixed(3), '4.800')
  assert.match(
    suspects!.message,
    /^String 1 \(counted from 0\) of inverter 'INV-05' delivered 3[34] % less/,
  )
  assert.ok(suspects!.affected_power_kw! > 1.5 && suspects!.affected_power_kw! < 1.7)
  assert.match(
    inverter!.message,
    /delivers 34 % less, relative to its panels, than the others of plant/,
  )
  assert.ok(inverter!.affected_power_kw! >= 0 && inverter!.affected_power_kw! < 3)
})

test('behind a silent edge nothing is found that needs fresh readings, and nothing clears', async (t) => {
  const db = await site(t)
  const later = new Date(now.getTime() + 30 * 60_000)
  const scans = await scanAt(db, later)
  assert.deepEqual(
    findingsOf(scans).map(({ code }) => code),
    ['edge_offline', 'data_gap'],
  )
  const open = (of: Partial<OpenAlert>): OpenAlert => ({
    alert_id: 1,
    code: 'inverter_offline',
    source_type: 'inverter',
    source_id: '2',
    part: null,
    logger_id: 1,
    inverter_id: 2,
    string_index: null,
    bess_id: null,
    node_id: null,
    location_id: null,
    ...of,
  })
  const string = {
    source_type: 'string',
    source_id: '5.3',
    inverter_id: 5,
    string_index: 3,
  } as const
  const asked: [keyof typeof sources, Partial<OpenAlert>][] = [
    ['findCommunication', {}],
    ['findInverterAlarms', { code: 'inverter_fault' }],
    ['findInverterAlarms', { code: 'inverter_alarm', part: 'OVER_TEMP' }],
    ['findStrings', { code: 'string_zero_current', ...string }],
    ['findStrings', { code: 'string_underperformance', ...string }],
    ['findPerformance', { code: 'inverter_underperformance' }],
    ['findDataGaps', { code: 'data_gap' }],
  ]
  for (const [source, of] of asked) {
    assert.equal(scans.get(source)!.isUnknown(open(of)), true, `${source} ${of.code}`)
  }
  const gone = open({ code: 'inverter_fault', source_id: '9', inverter_id: 9 })
  assert.equal(scans.get('findInverterAlarms')!.isUnknown(gone), false, 'it was taken out')
})

test('what is well again clears, and what is open keeps its beginning', async (t) => {
  const db = await site(t)
  await db.execute(
    `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
       source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
     values ('demo', 'string_zero_current:string:5.3', 'string_zero_current', 't', 'm', 'production',
       'major', 'active', 'string', '5.3', '2026-06-18T10:00:00Z', now(), now(), now(), now())`,
  )
  const before = (await scanAt(db)).get('findStrings')!
  assert.deepEqual(before.findings[0]?.since, new Date('2026-06-18T10:00:00Z'))
  await db.execute("update string_latest set current_a = '{6, 6, 6, 6}'")
  await db.execute("update inverter_latest set state = 'mppt', alarm_1 = 0 where inverter_id <> 2")
  const scans = await scanAt(db)
  const codes = findingsOf(scans).map(({ code }) => code)
  assert.ok(!codes.some((code) => /fault|alarm|zero/.test(code)), codes.join())
  const open: OpenAlert = {
    alert_id: 1,
    code: 'string_zero_current',
    source_type: 'string',
    source_id: '5.3',
    part: null,
    logger_id: 1,
    inverter_id: 5,
    string_index: 3,
    bess_id: null,
    node_id: null,
    location_id: null,
  }
  assert.equal(scans.get('findStrings')!.isUnknown(open), false)
  // Nobody carries current: it may be the light.
  await db.execute("update string_latest set current_a = '{0.2, 0.2, 0.2, 0}'")
  assert.equal((await scanAt(db)).get('findStrings')!.isUnknown(open), true)
})

/** Manual resolutions, each of the alert of a key. */
async function resolveByHand(db: Database, resolved: Record<string, string>) {
  await db.execute('delete from alerts')
  for (const [key, resolved_at] of Object.entries(resolved)) {
    const [code, source_type, source_id] = key.split(':')
    await db.execute(
      `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
         source_type, source_id, started_at, detected_at, last_seen_at, resolved_at, resolution,
         created_at, updated_at)
       values ('demo', $1, $2, 't', 'm', 'production', 'major', 'resolved', $3, $4,
         '2026-06-21T05:00:00Z', $5, $5, $5, 'manual', $5, $5)`,
      [key, code, source_type, source_id, `2026-06-21T${resolved_at}Z`],
    )
  }
}

test('what a person resolved is not found again by what was before', async (t) => {
  const db = await site(t)
  await db.execute("update gaps set updated_at = '2026-06-21T09:00:00Z'")
  const string = 'string_underperformance:string:5.1'
  const inverter = 'inverter_underperformance:inverter:4'
  const gap = 'data_gap:logger:1:unrecoverable_agent_stopped'
  const all = [string, inverter, gap]
  const found = async (resolved: Record<string, string>, when = now) => {
    await resolveByHand(db, resolved)
    const keys = findingsOf(await scanAt(db, when)).map(dedupKey)
    return all.filter((key) => keys.includes(key))
  }
  assert.deepEqual(await found({}), all)
  const handled_at = { [string]: '10:55:00', [inverter]: '10:55:00', [gap]: '10:55:00' }
  assert.deepEqual(await found(handled_at), [])
  const before = { [string]: '04:59:00', [inverter]: '07:59:00', [gap]: '08:30:00' }
  assert.deepEqual(await found(before), all, 'it was known only later, or lasts since')
  assert.deepEqual(await found({ 'data_gap:site:demo:unrecoverable_agent_stopped': '10:55:00' }), [
    string,
    inverter,
  ])
})

test('what a person resolved stays seen to while its alert is open once more', async (t) => {
  const db = await site(t)
  await db.execute("update gaps set updated_at = '2026-06-21T09:00:00Z'")
  await resolveByHand(db, { 'data_gap:logger:1:unrecoverable_agent_stopped': '10:55:00' })
  await db.execute(`
    insert into alert_transitions (site_id, alert_id, at, from_status, to_status, changed_by)
    select 'demo', alert_id, '2026-06-21T10:55:00Z', 'active', 'resolved', 'anna' from alerts;
    update alerts set status = 'active', resolved_at = null, resolution = null`)
  const { findings } = (await scanAt(db)).get('findDataGaps')!
  assert.deepEqual(findings, [])
  await db.execute("update alert_transitions set changed_by = 'system'")
  assert.equal((await scanAt(db)).get('findDataGaps')!.findings.length, 1)
})
