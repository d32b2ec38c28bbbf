/**
 * Server and edge as they run in production, and a SunSpec battery of another implementation: what
 * it holds is answered over HTTP, and what is approved over HTTP stands in its registers.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Battery } from '@heliograph/domain/battery'
import { day_ms } from '@heliograph/domain/durations'
import type { Site } from '@heliograph/domain/site'
import { utcDate } from '@heliograph/domain/utc-day'
import { addPrices } from '@heliograph/server/batteries/fixtures/schedule-site'
import { scopes } from '@heliograph/server/http/endpoint'
import { smallSite } from '@heliograph/simulator/fixtures/site'
import { missing, type PcsRegisters, serveBattery, units } from './battery-peer.ts'
import { writeSealedPermit } from './edge-program.ts'
import { enrol, onDatabase } from './enrol.ts'
import { freePort, type Programs, programsIn } from './programs.ts'

const patience_ms = 60_000
const asked_kw = 250
const market_code = 'DE-LU'
const at = { connection: 'battery', driver: 'sunspec' } as const

const battery: Battery = {
  bess_id: 1,
  name: 'Battery',
  chemistry: 'lfp',
  coupling: 'ac',
  rated_energy_kwh: 1664,
  rated_charge_power_kw: 800,
  rated_discharge_power_kw: 800,
  soc_min_pct: 5,
  soc_max_pct: 95,
  market_code,
  cluster_count: 2,
  modules_per_cluster: 3,
  cells_per_module: 16,
  bms: { ...at, unit_id: units.bms },
  pcs: [{ ...at, unit_id: units.pcs, pcs_idx: 0, rated_power_kw: 900, ramp_s: 0 }],
}

// biome-ignore lint/suspicious/noExplicitAny: the answer of any endpoint
type Answer = any

/** The programs with the battery, and the permit of the site far above all that is there. */
async function wholeSite(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-battery-'))
  const peer = await serveBattery()
  const { meters: _, ...small } = smallSite
  const local = { protocol: 'modbus_tcp', host: '127.0.0.1' } as const
  const site: Site = {
    ...small,
    currency: 'EUR',
    poll: { battery_s: 1, cluster_s: 2, cells_s: 2, inverter_s: 1 },
    connections: [
      // Nobody answers for the inverters: it is night.
      { ...small.connections[0]!, ...local, port: await freePort() },
      { connection_id: at.connection, ...local, port: peer.port },
    ],
    batteries: [battery],
  }
  const site_file = join(dir, 'with-battery.yaml')
  writeFileSync(site_file, JSON.stringify(site))
  const permit_file = join(dir, 'permit.yaml')
  const plants = '[{ logger_id: 1, permit_kw: 66 }]'
  writeSealedPermit(
    permit_file,
    `version: 1\nsite_id: ${site.site_id}\nsite_permit_kw: 5000\nplants: ${plants}\n`,
  )
  const programs = await programsIn(dir, site, { SITE_FILE: site_file, PERMIT_FILE: permit_file })
  t.after(async () => {
    await programs.endAll()
    await peer.close()
    rmSync(dir, { recursive: true, force: true })
  })
  programs.start('server')
  await programs.serverIsReady()
  const key = await enrol(programs, { scopes, general_per_minute: 10_000 })
  programs.start('edge')
  return { peer, programs, ...clientOf(programs, key) }
}

function clientOf(programs: Programs, key: string) {
  const url = `${programs.api}/v1/sites/${smallSite.site_id}`
  async function call(method: 'GET' | 'POST', path: string, body?: object) {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  async function until(path: string, isThere: (body: Answer) => boolean): Promise<Answer> {
    const late = Date.now() + patience_ms
    for (;;) {
      const { status, body } = await call('GET', path)
      if (status === 200 && isThere(body)) return body
      const words = programs.lastWords('edge')
      assert.ok(Date.now() < late, `${path}: ${JSON.stringify(body)}\n${words}`)
      await wait(250)
    }
  }
  return { call, until }
}

/**
 * Plans tomorrow over HTTP and, before anybody decides on it, moves its first hour to the present:
 * no test waits for tomorrow. Gives the id of the proposal.
 */
async function proposeNow(
  programs: Programs,
  call: ReturnType<typeof clientOf>['call'],
): Promise<number> {
  const now = Date.now()
  const target_date = utcDate(now + day_ms)
  await onDatabase(programs, (db) => addPrices(db, { market_code, date: target_date }))
  const { status, body } = await call('POST', '/bess/1/optimize', { target_date })
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal(body.optimizer.solver_status, 'optimal')
  const hour = {
    start_at: new Date(now - 60_000).toISOString(),
    end_at: new Date(now + 3_600_000).toISOString(),
    power_kw: asked_kw,
    quarter_power_kw: null,
  }
  await onDatabase(programs, (db) =>
    db.execute(
      `update battery_schedules set hours = jsonb_set(hours, '{0}', (hours->0) || $2::jsonb)
       where site_id = $1 and schedule_id = $3`,
      [smallSite.site_id, JSON.stringify(hour), body.schedule_id],
    ),
  )
  return body.schedule_id
}

test('a battery is read to HTTP, and does what is approved there and nothing else', {
  skip: missing,
}, async (t) => {
  const { peer, programs, call, until } = await wholeSite(t)
  const { pcs, untilPcs, setpoints, measure } = peer
  /** It holds that after so long that another setpoint would have come: a beat is a second. */
  const holdsOn = async (wanted_kw: number) => {
    const { beats } = await pcs()
    const holds = ({ setpoint_kw }: PcsRegisters) => (setpoint_kw ?? 0) === wanted_kw
    await untilPcs((now) => now.beats >= beats + 4 && holds(now), patience_ms)
  }
  const log = (isThere: (newest: Answer) => boolean) =>
    until('/bess/1/dispatch-log', ({ data }) => data.some(isThere))

  const current = await until('/bess/1/current', ({ soc_pct }) => soc_pct !== null)
  assert.deepEqual(
    [current.soc_pct, current.soh_pct, current.state, current.dc_voltage_v, current.cycle_count],
    [73.1, 98, 'charging', 1331.2, 612],
  )
  const cluster = await until(
    '/bess/1/clusters/0',
    (one) => one.soc_pct && one.cell_voltages_mv?.[0],
  )
  assert.deepEqual([cluster.soc_pct, cluster.voltage_v, cluster.current_a], [73.01, 1331.1, -75.1])
  // The cells of the first string, as the peer writes each of them out.
  const cells = Array.from({ length: 48 }, (_, nth) => ({ module: 1 + (nth >> 4), cell: nth % 16 }))
  assert.deepEqual(
    cluster.cell_voltages_mv,
    cells.map(({ module, cell }) => 3100 + 20 * module + cell),
  )
  assert.deepEqual(
    cluster.cell_temperatures_c,
    cells.map(({ cell }) => (cell - 20) / 10),
  )

  const schedule_id = await proposeNow(programs, call)
  await holdsOn(0)
  assert.deepEqual([...setpoints].filter(Boolean), [], 'a proposal was carried out')

  // One that charges when it is told to discharge would be a PCS with an alarm.
  await measure('power', 0)
  const { status, body } = await call('POST', `/bess/schedules/${schedule_id}/approve`)
  assert.equal(status, 200, JSON.stringify(body))
  const told = await untilPcs(({ setpoint_kw }) => setpoint_kw === asked_kw, patience_ms)
  assert.deepEqual(told.fallback, { to_kw: 0, after_s: 30 })
  const ours = (one: Answer) => one.schedule_id === schedule_id
  await log((one) => ours(one) && one.status === 'acknowledged')
  await measure('power', asked_kw * 10)
  await log((one) => ours(one) && one.status === 'achieved' && one.achieved_power_kw === asked_kw)

  await programs.end('server', 'SIGKILL')
  await holdsOn(asked_kw)

  await measure('soc', 40)
  await untilPcs(({ setpoint_kw }) => setpoint_kw === 0, patience_ms)
  await measure('soc', 731)
  await untilPcs(({ setpoint_kw }) => setpoint_kw === asked_kw, patience_ms)
  peer.freeze()
  await untilPcs(({ setpoint_kw }) => setpoint_kw === 0, patience_ms)
  assert.ok(
    [...setpoints].every((kw) => kw >= 0 && kw <= asked_kw),
    `${[...setpoints]} kW`,
  )

  programs.start('server')
  await programs.serverIsReady()
  await log((one) => one.clamp_reason === 'soc_min')
  await log((one) => one.status === 'failed' && one.failure_code === 'heartbeat_lost')
})
