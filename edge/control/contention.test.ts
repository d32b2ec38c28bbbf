import assert from 'node:assert/strict'
import test from 'node:test'
import { rowKey } from '@heliograph/domain/curtailment'
import { controlledSite, type FakeInverter, rowOf } from '../fixtures/controlled-site.ts'

test('against a master that raises a device all the time the others keep the permit', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  const row = rowOf(150)
  await site.controller.hear([row])
  await site.clock.advance(30_000)
  assert.deepEqual(site.limits(), [50_000, 50_000, 50_000])
  const { violation_s } = site.newest.get(rowKey(row))!
  assert.equal(violation_s, 0)
  let is_there = true
  const raise = () => {
    if (!is_there) return
    site.inverters[0]!.limit_w = 100_000
    site.clock.after(300, raise)
  }
  raise()
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits().slice(1), [25_000, 25_000])
  await site.clock.advance(60_000)
  const report = site.newest.get(rowKey(row))!
  assert.equal(report.observed_limit_kw, 150)
  assert.deepEqual(site.limits().slice(1), [25_000, 25_000])
  // It is told its share every time.
  assert.ok(site.inverters[0]!.writes.filter(({ limit_w }) => limit_w === 50_000).length > 10)
  const tighter = rowOf(60, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  await site.controller.hear([tighter])
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits().slice(1), [0, 0])
  const { applied_at, failure_code, failure_message } = site.newest.get(rowKey(tighter))!
  assert.deepEqual([applied_at, failure_code], [null, 'readback_mismatch'])
  assert.equal(failure_message, 'inverter 1: another raises its limit repeatedly')
  assert.equal(site.events.filter(({ code }) => code === 'control_contention').length, 1)
  is_there = false
  await site.clock.advance(90_000)
  assert.deepEqual(site.limits(), [20_000, 20_000, 20_000])
  assert.ok(site.newest.get(rowKey(tighter))?.applied_at)
})

test('a row that was kept is not while another raises one of its devices all the time', async () => {
  // What is measured at each poll is within the row.
  const prepare = (inverter: FakeInverter) => {
    inverter.available_w = 15_000
  }
  const site = await controlledSite({ prepare })
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(30_000)
  let left = 400
  const raise = () => {
    site.inverters[0]!.limit_w = 100_000
    left -= 1
    if (left > 0) site.clock.after(300, raise)
  }
  raise()
  await site.clock.advance(125_000)
  const { samples, compliant_samples, violation_s, observed_limit_kw } = site.newest.get(
    rowKey(row),
  )!
  assert.equal(observed_limit_kw, 100)
  assert.ok(violation_s > 30, String(violation_s))
  assert.ok(compliant_samples < samples)
})
