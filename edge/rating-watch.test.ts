import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { LinkEvent } from '@heliograph/domain/link'
import { pino } from 'pino'
import { Conditions } from './conditions.ts'
import { fakeBus, fakeDriver } from './fixtures/driver.ts'
import { inverterOf, siteOf } from './fixtures/sites.ts'
import { virtualClock } from './fixtures/virtual-clock.ts'
import { Loop } from './loop.ts'
import { PlantClock } from './plant-clock.ts'
import { pcsRatingEvent, ratingEvent } from './rating-watch.ts'

async function conditionsOf(t: TestContext): Promise<Conditions> {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-rating-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return Conditions.open(join(dir, 'conditions.json'))
}

test('a rating differs from more than 5 percent of that of the site on', async (t) => {
  const cases: [rated_power_kw: number | null, differs: boolean][] = [
    [110, false],
    [104.5, false],
    [104.4, true],
    [115.5, false],
    [115.6, true],
    [null, false],
  ]
  for (const [rated_power_kw, differs] of cases) {
    const conditions = await conditionsOf(t)
    const event = ratingEvent(
      { rated_power_kw },
      { inverter_id: 7, rated_ac_power_kw: 110 },
      { conditions, at: 1000 },
    )
    assert.equal(event !== null, differs, `${rated_power_kw} kW`)
  }
})

test('a PCS differs where it is built for less than its rating, or for more than twice that', async (t) => {
  const cases: [built_kw: number | null, differs: boolean][] = [
    [372, false],
    [353.4, false],
    [353.3, true],
    [744, false],
    [745, true],
    [0, false],
    [null, false],
  ]
  for (const [built_kw, differs] of cases) {
    const conditions = await conditionsOf(t)
    const pcs = { bess_id: 1, pcs_idx: 0, rated_power_kw: 372 }
    const event = pcsRatingEvent(built_kw, pcs, { conditions, at: 1000 })
    assert.equal(event !== null, differs, `${built_kw} kW`)
    if (event) assert.deepEqual([event.source_kind, event.source_id], ['pcs', '1.0'])
  }
})

test('the poll loop tells of a rating that differs once, and when it agrees again', async (t) => {
  const clock = virtualClock('2026-06-01T10:00:00.500Z')
  const driver = fakeDriver(clock)
  const device = driver.deviceAt(1)
  const events: LinkEvent[] = []
  const loop = new Loop({
    openBus: () => fakeBus,
    driverOf: () => driver,
    recorder: { reading: () => {}, tell: () => {}, event: (event) => event && events.push(event) },
    conditions: await conditionsOf(t),
    stamps: new PlantClock({ clock, stopwatch: clock }),
    clock,
    stopwatch: clock,
    timers: clock,
    log: pino({ level: 'silent' }),
    onStatusChange: () => {},
    onPoll: () => {},
  })
  const reopenWith = async (ratings: typeof device.ratings) => {
    device.ratings = ratings
    device.is_silent = true
    await clock.advance(60_000)
    device.is_silent = false
    await clock.advance(60_000)
  }
  const told = () =>
    events
      .filter(({ code }) => code === 'rating_differs')
      .map(({ edge, message }) => [edge, message])

  device.ratings = { rated_power_kw: 60 }
  await loop.apply(siteOf([inverterOf(1)]))
  await clock.advance(60_000)
  const rising = ['rising', 'inverter 1 is rated 60 kW by itself, 100 kW by the site file']
  assert.deepEqual(told(), [rising])
  const { severity, source_kind, source_id, details } = events[0]!
  assert.deepEqual([severity, source_kind, source_id], ['warning', 'inverter', '1'])
  assert.deepEqual(details, { rated_power_kw: 60, rated_ac_power_kw: 100 })

  await reopenWith(null)
  await reopenWith({ rated_power_kw: null })
  assert.deepEqual(told(), [rising], 'what is not known tells nothing')

  await reopenWith({ rated_power_kw: 100 })
  const falling = ['falling', 'inverter 1 is rated 100 kW by itself, 100 kW by the site file']
  assert.deepEqual(told(), [rising, falling])

  await reopenWith({ rated_power_kw: 60 })
  await loop.apply(siteOf([inverterOf(1, { rated_ac_power_kw: 60 })]))
  await clock.advance(60_000)
  assert.deepEqual(
    told().map(([edge]) => edge),
    ['rising', 'falling', 'rising', 'falling'],
    'the site file was put right',
  )
  await loop.stop()
})
