import assert from 'node:assert/strict'
import test from 'node:test'
import { rowKey } from '@heliograph/domain/curtailment'
import { day_ms } from '@heliograph/domain/durations'
import {
  type ControlledSite,
  controlledSite,
  rowOf,
  start_at,
} from '../fixtures/controlled-site.ts'
import { ClockWatch } from './clock-watch.ts'

const row = rowOf(60, { start_at: start_at + 10_000 })
const held = [20_000, 20_000, 20_000]

/** With the row applied for 20 s. */
async function curtailed(): Promise<ControlledSite> {
  const site = await controlledSite({ permit_w: 300_000 })
  await site.clock.advance(10_000)
  await site.controller.hear([row])
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), held)
  return site
}

test('a clock that is set back to before an applied row does not lift it', async () => {
  const site = await curtailed()
  site.clock.step(-7_200_000)
  await site.clock.advance(120_000)
  assert.deepEqual(site.limits(), held)
  site.restart()
  await site.clock.advance(120_000)
  assert.deepEqual(site.limits(), held)
  await site.controller.hear([{ ...row, released_at: start_at + 11_000 }])
  await site.clock.advance(5000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 100_000])
  assert.ok(site.newest.get(rowKey(row))?.restored_at)
})

test('a clock that is weeks ahead for a while neither ends a row nor forgets it', async () => {
  for (const ahead_ms of [30_000, 300_000]) {
    const site = await curtailed()
    site.clock.step(40 * day_ms)
    await site.clock.advance(ahead_ms)
    site.clock.step(-40 * day_ms)
    await site.clock.advance(120_000)
    assert.deepEqual(site.limits(), held, `${ahead_ms} ms ahead`)
    assert.equal(site.store.rows.length, 1)
  }
})

test('while a jump is in doubt a row ends when the clock and the time before both say so', async () => {
  const site = await controlledSite({ permit_w: 300_000 })
  await site.clock.advance(10_000)
  await site.controller.hear([{ ...row, end_at: start_at + 40_000 }])
  await site.clock.advance(10_000)
  site.clock.step(90_000)
  await site.clock.advance(19_000)
  const { restore_started_at } = site.newest.get(rowKey(row))!
  assert.equal(restore_started_at, null)
  await site.clock.advance(3000)
  assert.ok(site.newest.get(rowKey(row))!.restore_started_at)
  assert.deepEqual(site.limits(), held)
  await site.clock.advance(60_000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 100_000])
})

test('a clock that is slow does not hold up what begins now by the server', async () => {
  let server_at = start_at
  const site = await controlledSite({
    permit_w: 300_000,
    needs: { serverNow: () => ({ at: server_at, error_ms: 0 }) },
  })
  await site.clock.advance(10_000)
  server_at = start_at + 30_000
  const immediate = rowOf(60, { start_at: start_at + 30_000, end_at: start_at + 60_000 })
  await site.controller.hear([immediate])
  await site.clock.advance(200)
  assert.deepEqual(site.limits(), held)
  // Neither a row that is still to come, nor the end of one.
  server_at = start_at + 70_000
  const later = { group_id: '0193a1de-0000-7000-8000-000000000002', start_at: start_at + 80_000 }
  await site.controller.hear([rowOf(30, later)])
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits(), held)
})

const two_hours_ms = 7_200_000

test('an order that is in force by the server outlasts a clock that jumps ahead', async () => {
  const site: ControlledSite = await controlledSite({
    permit_w: 300_000,
    needs: { serverNow: () => ({ at: start_at + site.clock.elapsedMs(), error_ms: 100 }) },
  })
  await site.clock.advance(10_000)
  await site.controller.hear([row])
  await site.clock.advance(20_000)
  site.clock.step(two_hours_ms)
  await site.clock.advance(600_000)
  assert.deepEqual(site.limits(), held)
  assert.equal(site.newest.get(rowKey(row))?.restore_started_at, null)
})

test('an order is released on time once both clocks have reached its end, and by a release at once', async () => {
  const site: ControlledSite = await controlledSite({
    permit_w: 300_000,
    needs: { serverNow: () => ({ at: start_at + site.clock.elapsedMs(), error_ms: 100 }) },
  })
  await site.clock.advance(10_000)
  await site.controller.hear([{ ...row, end_at: start_at + 200_000 }])
  await site.clock.advance(20_000)
  site.clock.step(two_hours_ms)
  await site.clock.advance(169_900)
  assert.deepEqual(site.limits(), held)
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 100_000])
  const later = { group_id: '0193a1de-0000-7000-8000-000000000002', start_at: start_at + 210_000 }
  await site.controller.hear([rowOf(30, later)])
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [10_000, 10_000, 10_000])
  await site.controller.hear([rowOf(30, { ...later, released_at: start_at + 220_000 })])
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 100_000])
})

test('a clock that was ahead before the server first told its time puts the order in force again', async () => {
  let is_told = false
  const site: ControlledSite = await controlledSite({
    permit_w: 300_000,
    needs: {
      serverNow: () => (is_told ? { at: start_at + site.clock.elapsedMs(), error_ms: 0 } : null),
    },
  })
  await site.clock.advance(10_000)
  await site.controller.hear([row])
  await site.clock.advance(20_000)
  site.clock.step(two_hours_ms)
  await site.clock.advance(120_000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 100_000])
  is_told = true
  await site.clock.advance(2000)
  assert.deepEqual(site.limits(), held)
})

test('a difference of seconds between the clocks delays no end', async () => {
  const site: ControlledSite = await controlledSite({
    permit_w: 300_000,
    needs: { serverNow: () => ({ at: start_at - 7000 + site.clock.elapsedMs(), error_ms: 2500 }) },
  })
  await site.clock.advance(10_000)
  await site.controller.hear([{ ...row, end_at: start_at + 40_000 }])
  await site.clock.advance(29_900)
  assert.deepEqual(site.limits(), held)
  await site.clock.advance(1000)
  assert.deepEqual(site.limits(), [100_000, 100_000, 100_000])
})

test('a clock that goes far ahead in small steps is in doubt', async () => {
  const site = await curtailed()
  for (let nth = 0; nth < 62; nth += 1) {
    site.clock.step(59_000)
    await site.clock.advance(1000)
  }
  assert.deepEqual(site.limits(), held)
})

test('a clock that is set right a little is trusted, and after a minute any is', () => {
  const watch = new ClockWatch(0)
  const agreed = { now: start_at, earliest: start_at, latest: start_at }
  assert.deepEqual(watch.look(start_at, 0, null), { ...agreed, is_settled: true })
  // By 20 s an hour, then by two hours at once, and back again.
  for (let hour = 1; hour <= 5; hour += 1) {
    const at = start_at + hour * 3_620_000
    assert.ok(watch.look(at, hour * 3_600_000, null).is_settled)
  }
  const [at, at_ms] = [start_at + 5 * 3_620_000, 5 * 3_600_000]
  const jumped = watch.look(at + 7_201_000, at_ms + 1000, null)
  const to = { now: at + 7_201_000, latest: at + 7_201_000 }
  assert.deepEqual(jumped, { ...to, earliest: at + 1000, is_settled: false })
  const still = watch.look(at + 7_260_000, at_ms + 60_000, null)
  assert.deepEqual([still.earliest, still.is_settled], [at + 60_000, false])
  const trusted = watch.look(at + 7_261_000, at_ms + 61_000, null)
  assert.deepEqual([trusted.earliest, trusted.is_settled], [at + 7_261_000, true])
})

test('a clock that jumps again before it is trusted leaves the time before the first to count', () => {
  const watch = new ClockWatch(0)
  watch.look(start_at, 0, null)
  watch.look(start_at + 7_200_000, 1000, null)
  const again = watch.look(start_at + 14_400_000, 30_000, null)
  assert.deepEqual([again.earliest, again.is_settled], [start_at + 30_000, false])
  const still = watch.look(start_at + 14_459_999, 89_999, null)
  assert.deepEqual([still.earliest, still.is_settled], [start_at + 89_999, false])
  assert.ok(watch.look(start_at + 14_460_000, 90_000, null).is_settled)
})
