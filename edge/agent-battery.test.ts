import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { ControlNote, DispatchHour, DispatchReport } from '@heliograph/domain/dispatch'
import type { Readings } from '@heliograph/domain/link'
import { emptyReading } from '@heliograph/domain/readings'
import { batteryOf, hourOf } from './battery/fixtures/mixed-site.ts'
import { askToForget } from './control/limit-requests.ts'
import type { PowerControl, PowerState } from './drivers/power-control.ts'
import { agentPlace } from './fixtures/agent-place.ts'
import { makeLimitable } from './fixtures/driver.ts'
import { inverterOf, siteOf } from './fixtures/sites.ts'

const permit_w = 61_234
const at = { connection: 'a', driver: 'sunspec' } as const
const { ramp_rate_kw_s: _, ...battery } = batteryOf(1, {
  logger_id: 1,
  bms: { unit_id: 31, ...at },
  pcs: [{ pcs_idx: 0, rated_power_kw: 100, unit_id: 32, ...at }],
})
const poll = { inverter_s: 0.2, battery_s: 0.2, logger_s: 0.2 }
const site = siteOf([inverterOf(1)], { poll, batteries: [battery] })
const identity = { manufacturer: 'M', model: 'B', serial_number: '1', firmware_version: '1' }

async function placeOf(t: TestContext) {
  const place = await agentPlace(t)
  const { driver, server, payloads } = place
  place.write(site)
  // Where nothing is known of an earlier run a PCS counts with all that it can, for a while.
  const file = join(place.dir, 'data', 'battery-dispatch.json')
  mkdirSync(join(place.dir, 'data'))
  writeFileSync(file, JSON.stringify({ hours: [], most_w: [['1.0', 0]], reports: [] }))
  place.writePermit({ site_id: site.site_id, permit_w })
  const inverter = driver.deviceAt(1)
  inverter.values['ac_power_kw'] = 0
  makeLimitable(inverter)
  const pcs = { setpoint_w: 0 }
  const power = (): PowerState => ({
    setpoint_w: pcs.setpoint_w,
    discharge_max_w: 100_000,
    charge_max_w: 100_000,
    revert: null,
    is_remote: true,
  })
  const control: PowerControl = {
    traits: { stops_after_ms: null, applies_within_ms: 0, ramp_ms: 0 },
    settable: Math.trunc,
    readPower: async () => power(),
    async writePower(power_w) {
      pcs.setpoint_w = power_w
    },
    beat: async () => {},
    arm: async () => [],
  }
  driver.openBattery = async () => ({
    identity,
    beat: async () => {},
    async read() {
      const values = { ...emptyReading('bess'), state: 'standby' as const, soc_pct: 50 }
      const answer = { battery: values, alarm_table: null, heartbeat: null, is_remote: null }
      return { values: answer, complaints: [] }
    },
  })
  driver.openPcs = async () => ({
    identity,
    control,
    async read() {
      const kw = pcs.setpoint_w / 1000
      const values = { ...emptyReading('pcs'), ac_power_kw: kw, setpoint_kw: kw }
      const answer = { pcs: values, alarm_table: null, heartbeat: null, power: power() }
      return { values: answer, complaints: [] }
    },
  })
  const told = <Of>(name: string) =>
    payloads()
      .filter(Array.isArray)
      .flat()
      .filter((one) => name in one) as Of[]
  const desire = (dispatch: DispatchHour[]) =>
    server.sockets.at(-1)!.send(JSON.stringify({ type: 'desired', rows: [], dispatch }))
  return { ...place, file, inverter, pcs, told, desire }
}

test('an approved hour comes over the link, is carried out, and told with its clamp', async (t) => {
  const { file, server, inverter, pcs, told, desire, start, payloads } = await placeOf(t)
  const agent = await start()
  await server.until(() => inverter.limit?.limit_w === permit_w)
  const now = Date.now()
  const when = { start_at: now - 1000, end_at: now + 3_600_000 }
  desire([hourOf(40, when)])
  const reports = () => told<DispatchReport>('requested_power_kw')
  await server.until(() => reports().some(({ status }) => status === 'achieved'))
  assert.equal(pcs.setpoint_w, 40_000)
  assert.ok(inverter.limit!.limit_w! <= permit_w - 40_000)

  desire([hourOf(90, { ...when, schedule_id: 2 })])
  const notes = () => told<ControlNote>('reason_code')
  await server.until(() => notes().some(({ tier }) => tier === 'permit'))
  await server.until(() => reports().some(({ clamp_reason }) => clamp_reason === 'permit'))
  const clamped = reports().filter(({ clamp_reason }) => clamp_reason === 'permit')
  assert.ok(clamped.every((one) => one.clamped_power_kw! > 40 && one.clamped_power_kw! < 90))
  await server.until(() => pcs.setpoint_w > 40_000)
  assert.ok(pcs.setpoint_w < permit_w)
  // A setpoint under the permit is told.
  const read_kw = () =>
    payloads().flatMap((payload) => {
      const { pcs: table } = payload as Readings
      return table?.rows.map((row) => row[table.columns.indexOf('setpoint_kw')]) ?? []
    })
  await server.until(() => read_kw().includes(pcs.setpoint_w / 1000))

  await agent.stop()
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).hours.length, 2)
  pcs.setpoint_w = 0
  await start()
  await server.until(() => pcs.setpoint_w > 40_000)
})

test('a battery that leaves site.yaml is told zero, and counts until it is said to be gone', async (t) => {
  const { dir, write, file, server, inverter, pcs, desire, start } = await placeOf(t)
  const agent = await start()
  await server.until(() => inverter.limit?.limit_w === permit_w)
  const now = Date.now()
  desire([hourOf(40, { start_at: now - 1000, end_at: now + 3_600_000 })])
  await server.until(() => pcs.setpoint_w === 40_000)
  const { batteries: _, ...without } = site
  write(without)
  await server.until(() => pcs.setpoint_w === 0)
  await server.until(() => inverter.limit?.limit_w === 0)
  await agent.stop()
  const saved = JSON.parse(readFileSync(file, 'utf8'))
  assert.deepEqual(
    saved.pcs.map((one: { left: number[] }) => one.left),
    [[1]],
  )
  await start()
  const ids = { request_id: 'a', bess_id: 1, pcs_idx: 0 }
  const asked = { ...ids, asked_at: now, asked_by: 'ann', is_disconnected: true as const }
  await askToForget(join(dir, 'data'), asked)
  await server.until(() => inverter.limit?.limit_w === permit_w)
})
