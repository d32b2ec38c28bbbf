import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { after, before } from 'node:test'
import { addBatteries, addBatteryReadings } from '../batteries/fixtures/battery-site.ts'
import { addKey, addReading, type ServedSite, servedSite } from '../fixtures/served-site.ts'

const prometheus = '/usr/bin/prometheus'
const skip = existsSync(prometheus) ? false : 'prometheus is not there: install prometheus'
const at = '2026-06-21T09:59:50Z'

let site: ServedSite
let key: string
let plant_key: string

before(async () => {
  site = await servedSite()
  const { db } = site
  key = await addKey(db, { key_id: 'aaaaaaaaaaaa' })
  plant_key = await addKey(db, { key_id: 'bbbbbbbbbbbb', scopes: ['plant:read'] })
  await db.execute(`UPDATE inverters SET name = 'Roof "N\\S"' WHERE inverter_id = 1`)
  await addReading(db, 'logger', { logger_id: 1, measured_at: at })
  const powers = { ac_power_kw: 40.1, dc_power_kw: 41, energy_total_kwh: 1234.5, frequency_hz: 50 }
  const more = { available_power_kw: 45, heatsink_temperature_c: 51.5, state: 'mppt' }
  await addReading(db, 'inverter', { inverter_id: 1, measured_at: at, ...powers, ...more })
  await addReading(db, 'inverter', {
    inverter_id: 2,
    measured_at: '2026-06-21T09:00:00Z',
    ac_power_kw: 99,
  })
  await db.query(`
    INSERT INTO meters (site_id, meter_id, role, name, created_at, updated_at)
    VALUES ('demo', 1, 'grid_connection', 'Grid', now(), now());
    INSERT INTO stations (site_id, station_id, logger_id, name, instruments, created_at, updated_at)
    VALUES ('demo', 1, 1, 'Met', '[]', now(), now());
    INSERT INTO edges (site_id, edge_id, name, secret_sha256, last_seen_at, agent_version,
      clock_offset_ms, journal_depth_frames)
    VALUES ('demo', 'eeeeeeeeeeee', 'Edge', sha256('x'), '${at}', '0.1.0', 12, 3);
  `)
  await addReading(db, 'meter', { meter_id: 1, measured_at: at, active_power_kw: 68 })
  await addReading(db, 'weather', {
    station_id: 1,
    measured_at: at,
    poa_irradiance_w_m2: 800,
    ambient_temperature_c: -1.5,
    module_temperature_c: 40,
    wind_speed_m_s: 3,
  })
  await addBatteries(db)
  await addBatteryReadings(db, at)
  const { statusCode } = await site.app.inject({
    method: 'POST',
    url: '/v1/sites/demo/curtailment/immediate',
    headers: { authorization: `Bearer ${key}` },
    payload: { scope: 'logger', logger_id: 1, limit_mode: 'kw', limit_value: 30 },
  })
  assert.equal(statusCode, 201)
})
after(() => site.close())

/** Reads the text by the rules of OpenMetrics that our families need. */
function parse(text: string) {
  assert.ok(text.endsWith('\n# EOF\n'))
  const types = new Map<string, string>()
  const series = new Map<string, number>()
  let family = ''
  for (const line of text.slice(0, -'# EOF\n'.length).trimEnd().split('\n')) {
    const meta = /^# (HELP|TYPE|UNIT) ([a-z][a-z0-9_]*) (.+)$/.exec(line)
    if (meta) {
      const [, kind, name = '', value = ''] = meta
      if (kind === 'HELP') assert.ok(!types.has(name), `${name} comes twice`)
      else assert.equal(name, family)
      if (kind === 'TYPE') types.set(name, value)
      if (kind === 'UNIT') assert.ok(name.endsWith(`_${value}`), name)
      family = name
      continue
    }
    const sample = /^([a-z0-9_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)+)\} (-?[\d.e+]+)$/.exec(
      line,
    )
    assert.ok(sample, line)
    const [, name = '', labels = '', value] = sample
    const suffix = { counter: '_total', info: '_info' }[types.get(family)!] ?? ''
    assert.equal(name, `${family}${suffix}`)
    const names = [...labels.matchAll(/([a-z_]+)="(?:[^"\\]|\\.)*"/g)].map(([, label]) => label)
    assert.equal(names.length, new Set(names).size, line)
    if (types.get(family) === 'stateset') assert.ok(names.includes(family), line)
    const one = `${name}{${labels}}`
    assert.ok(!series.has(one), `${one} comes twice`)
    series.set(one, Number(value))
  }
  return series
}

async function scrape(presented = key, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${presented}`
  const url = '/v1/sites/demo/metrics'
  const answer = await site.app.inject({ url, headers: { authorization, ...headers } })
  return { ...answer, status: answer.statusCode }
}

test('every series is unique and in base units, and stale values are left out', async () => {
  const { status, headers, payload } = await scrape()
  assert.equal(status, 200, payload)
  const type = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
  assert.equal(headers['content-type'], type)
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['content-disposition'], undefined)
  const series = parse(payload)
  const inverter = 'site_id="demo",inverter_id="1",logger_id="1",inverter="Roof \\"N\\\\S\\""'
  const value = (name: string) => series.get(`heliograph_${name}`)
  assert.equal(value(`inverter_ac_power_watts{${inverter}}`), 40_100)
  assert.equal(value(`inverter_energy_joules_total{${inverter}}`), 4_444_200_000)
  assert.equal(value(`inverter_temperature_celsius{${inverter},place="heatsink"}`), 51.5)
  const state = (of: string) => `inverter_state{${inverter},heliograph_inverter_state="${of}"}`
  assert.deepEqual([value(state('producing')), value(state('faulted'))], [1, 0])
  assert.equal(value('site_grid_export_power_watts{site_id="demo"}'), 68_000)
  const station = 'site_id="demo",station_id="1",station="Met"'
  assert.equal(value(`station_ambient_temperature_celsius{${station}}`), -1.5)
  assert.ok(!payload.includes('99000'), 'a stale value is not current')
  assert.ok(series.size > 60, String(series.size))
})

test('series that need a scope that the key lacks are left out', async () => {
  const names = (text: string) => new Set([...parse(text).keys()].map((one) => one.split('{')[0]!))
  const [all, some] = [names((await scrape()).payload), names((await scrape(plant_key)).payload)]
  assert.deepEqual(
    [...all].filter((name) => !some.has(name)),
    [
      'heliograph_battery_power_watts',
      'heliograph_battery_setpoint_watts',
      'heliograph_battery_state_of_charge_ratio',
      'heliograph_battery_alarms',
      'heliograph_site_curtailment_orders',
      'heliograph_site_curtailed_power_watts',
      'heliograph_logger_power_limit_watts',
      'heliograph_site_alerts',
    ],
  )
  const none = await addKey(site.db, { key_id: 'cccccccccccc', scopes: ['alerts:read'] })
  const refused = await scrape(none)
  assert.deepEqual([refused.status, refused.json().error.code], [403, 'forbidden_scope'])
})

test('a scrape is compressed where Prometheus asks for it', async () => {
  const { headers } = await scrape(key, { 'accept-encoding': 'gzip' })
  assert.equal(headers['content-encoding'], 'gzip')
})

test('the dashboards use only metrics that exist', async () => {
  const folder = new URL('../../docs/grafana/', import.meta.url)
  const text = (await scrape()).payload
  const served = new Set([...parse(text).keys()].map((one) => one.split('{')[0]!))
  const files = readdirSync(folder)
  assert.deepEqual(files.sort(), ['fleet.json', 'plant.json'])
  for (const file of files) {
    const { panels } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
    const queries: string[] = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    )
    const used = queries.flatMap((expr) => expr.match(/heliograph_\w+(?=[{)\s[]|$)/g) ?? [])
    assert.ok(used.length > 5, file)
    for (const name of used) assert.ok(served.has(name), `${file}: ${name}`)
  }
})

test('Prometheus scrapes it', { skip, timeout: 60_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'))
  const { app } = site
  await app.listen({ port: 0 })
  const scrapes = countScrapes()
  const { port } = app.server.address() as AddressInfo
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [
      {
        job_name: 'heliograph',
        metrics_path: '/v1/sites/demo/metrics',
        authorization: { credentials: key },
        static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      },
    ],
  }
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const program = spawn(
    prometheus,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  t.after(async () => {
    if (program.exitCode === null) {
      program.kill()
      await once(program, 'exit')
    }
    rmSync(folder, { recursive: true })
  })
  let address: string | undefined
  for await (const line of createInterface({ input: program.stderr })) {
    address = /msg="Listening on" address=(\S+)/.exec(line)?.[1]
    if (address) break
  }
  program.stderr.resume()
  await scrapes.reached(3)
  const ask = async (query: string) => {
    const url = `http://${address}/api/v1/query?query=${encodeURIComponent(query)}`
    const { data } = (await (await fetch(url)).json()) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] }
    }
    return data.result
  }
  const [up] = await ask('up{job="heliograph"}')
  assert.equal(up?.value[1], '1')
  const [power] = await ask('heliograph_inverter_ac_power_watts{inverter_id="1"}')
  assert.equal(power?.metric['inverter'], 'Roof "N\\S"')
  assert.equal(power?.value[1], '40100')
  const [stored] = await ask('scrape_samples_scraped')
  assert.equal(Number(stored?.value[1]), parse((await scrape()).payload).size)

  /** A scrape is stored before the next one begins. */
  function countScrapes() {
    let count = 0
    const waiting: (() => void)[] = []
    app.server.on('request', ({ url }) => {
      if (url === '/v1/sites/demo/metrics') count += 1
      for (const check of waiting) check()
    })
    return {
      reached: (wanted: number) =>
        new Promise<void>((resolve) => {
          waiting.push(() => {
            if (count >= wanted) resolve()
          })
        }),
    }
  }
})
