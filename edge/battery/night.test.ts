import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { Proof } from '../control/proof.ts'
import { batteryOf, hourOf, type MixedSite, mixedSite } from './fixtures/mixed-site.ts'

const at = (time: string) => Date.parse(`2026-06-21T${time}Z`)
/** The sun is below 5 degrees from 18:33 until 3:54, and night from 19:56 until 2:28. */
const dusk = '2026-06-21T19:50:00Z'
const permit_w = 150_000

interface Evening {
  begins?: string
  /** By how much the server is ahead of a clock that never jumps; null: it never tells. */
  server_ahead_ms?: number | null
}

/** Two inverters of 100 kW that fall asleep, and a larger battery, behind a permit of 150 kW. */
async function evening({ begins = dusk, server_ahead_ms = 0 }: Evening = {}): Promise<MixedSite> {
  const start_at = Date.parse(begins)
  return await mixedSite({
    begins,
    plants: [{ logger_id: 1, rated_w: [100_000, 100_000] }],
    batteries: [
      batteryOf(1, {
        logger_id: 1,
        rated_energy_kwh: 2000,
        rated_discharge_power_kw: 200,
        pcs: [
          { pcs_idx: 0, rated_power_kw: 187.5, connection: 'a', unit_id: 1, driver: 'sunspec' },
        ],
      }),
    ],
    permit: { plant_w: new Map([[1, permit_w]]), site_w: null },
    serverNow: (elapsed_ms) =>
      server_ahead_ms === null ? null : start_at + elapsed_ms + server_ahead_ms,
  })
}

async function fallAsleep(site: MixedSite): Promise<void> {
  await site.pass(30)
  for (const one of site.inverters) one.silent_ms = site.clock.elapsedMs()
  await site.pass(60)
}

function discharge(site: MixedSite, power_kw = 150): void {
  const start_at = site.clock.now().getTime()
  site.hours(hourOf(power_kw, { start_at, end_at: start_at + 4 * hour_ms }))
}

const setpoint = ({ batteries }: MixedSite) => batteries[0]!.pcs[0]!.setpoint_w
const alarms = ({ events }: MixedSite) =>
  events.filter(({ code, edge }) => edge === 'rising' && code === 'permit_unenforceable')

function proofOf({ entries, clock }: MixedSite) {
  const to_at = clock.now().getTime()
  const proof = new Proof({ from_at: entries[0]!.at + 25_000, to_at }, to_at)
  for (const entry of entries) proof.take(entry)
  return proof.end()
}

test('at night a battery has the whole permit, beside inverters that sleep', async () => {
  const site = await evening()
  discharge(site)
  await fallAsleep(site)
  assert.ok((setpoint(site) ?? 0) <= 0, 'twilight is no night')
  await site.pass(600)
  assert.equal(setpoint(site), permit_w)
  assert.deepEqual(alarms(site), [])
  const { is, oversteps } = proofOf(site)
  assert.deepEqual([is, oversteps], ['kept', []])
  assert.deepEqual(site.faults, [])
})

test('before dawn the battery is down, while inverters sleep and as they wake', async () => {
  const site = await evening({ begins: '2026-06-21T02:20:00Z' })
  discharge(site)
  for (const one of site.inverters) one.silent_ms = 0
  await site.pass(400)
  assert.equal(setpoint(site), permit_w)
  const night_ends_s = (at('02:29:00') - at('02:20:00')) / 1000
  await site.pass(night_ends_s - 400 + 10)
  assert.equal(setpoint(site), 0)
  await site.pass(240)
  for (const one of site.inverters) {
    one.silent_ms = null
    one.available_w = one.rated_w
  }
  await site.pass(60)
  const limits_w = site.inverters.reduce((sum_w, one) => sum_w + (one.limit_w ?? one.rated_w), 0)
  assert.ok(limits_w <= permit_w, String(limits_w))
  assert.deepEqual(alarms(site), [])
  assert.deepEqual(
    proofOf(site).oversteps.filter(({ cause }) => cause === 'write'),
    [],
  )
})

test('without a server since the start it is as by day', async () => {
  const site = await evening({ begins: '2026-06-21T23:00:00Z', server_ahead_ms: null })
  discharge(site)
  await fallAsleep(site)
  await site.pass(120)
  assert.ok((setpoint(site) ?? 0) <= 0)
  assert.equal(alarms(site).length, 1)
  assert.equal(proofOf(site).is, 'broken')
})

test('a clock that is hours behind or ahead makes no night', async () => {
  for (const server_ahead_ms of [-6 * hour_ms, 7 * hour_ms]) {
    const site = await evening({ begins: '2026-06-21T22:00:00Z', server_ahead_ms })
    discharge(site)
    await fallAsleep(site)
    await site.pass(120)
    assert.ok((setpoint(site) ?? 0) <= 0)
  }
})

test('a clock that jumps out of the night or into it makes none', async () => {
  const site = await evening({ begins: '2026-06-21T22:00:00Z' })
  discharge(site)
  await fallAsleep(site)
  await site.pass(60)
  assert.equal(setpoint(site), permit_w)
  site.clock.step(-8 * hour_ms)
  await site.pass(5)
  assert.equal(setpoint(site), 0)
})

test('a restart by night changes nothing once the server is reached', async () => {
  const site = await evening({ begins: '2026-06-21T22:00:00Z' })
  discharge(site)
  await fallAsleep(site)
  await site.pass(120)
  await site.restart(20_000)
  await site.pass(150)
  assert.equal(setpoint(site), permit_w)
  assert.deepEqual(alarms(site), [])
  assert.deepEqual(proofOf(site).oversteps, [])
})

test('an inverter that answers by night counts with its limit, and makes room', async () => {
  const site = await evening({ begins: '2026-06-21T22:00:00Z' })
  discharge(site)
  await fallAsleep(site)
  await site.pass(60)
  assert.equal(setpoint(site), permit_w)
  const [woken] = site.inverters
  woken!.silent_ms = null
  woken!.limit_w = null
  await site.pass(60)
  // It may come up by as much as is kept for plants.
  const w = setpoint(site)! + (woken!.limit_w ?? woken!.rated_w)
  assert.ok(w <= permit_w, String(w))
  assert.ok(setpoint(site)! >= 0.9 * permit_w, String(setpoint(site)))
})

test('power that is measured by night is no night, and the battery makes room for it', async () => {
  const site = await evening({ begins: '2026-06-21T22:00:00Z' })
  discharge(site)
  await fallAsleep(site)
  await site.pass(60)
  const [woken] = site.inverters
  woken!.silent_ms = null
  woken!.available_w = 5000
  await site.pass(20)
  woken!.silent_ms = site.clock.elapsedMs()
  await site.pass(60)
  assert.equal(setpoint(site), 0)
})
