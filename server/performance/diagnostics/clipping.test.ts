import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { limitLoss, outputState } from './clipping.ts'

const free = { rated_kw: 100, curtailed_to_kw: null }
const curtailed = { rated_kw: 100, curtailed_to_kw: 60 }

test('at its rating under more sun an inverter is clipped, under less it is free', () => {
  assert.equal(outputState({ power_kw: 98.5, expected_kw: 120 }, free), 'clipped')
  assert.equal(outputState({ power_kw: 98.4, expected_kw: 120 }, free), 'free')
  assert.equal(outputState({ power_kw: 99.5, expected_kw: 99.7 }, free), 'free')
  assert.equal(outputState({ power_kw: 99.5, expected_kw: null }, free), 'clipped')
  assert.equal(outputState({ power_kw: null, expected_kw: 120 }, free), null)
})

test('curtailment decides first', () => {
  assert.equal(outputState({ power_kw: 59.5, expected_kw: 120 }, curtailed), 'curtailed')
  const to_rating = { ...curtailed, curtailed_to_kw: 100 }
  assert.equal(outputState({ power_kw: 99.5, expected_kw: 120 }, to_rating), 'clipped')
  const to_zero = { rated_kw: 100, curtailed_to_kw: 0 }
  assert.equal(outputState({ power_kw: -0.4, expected_kw: 50 }, to_zero), 'curtailed')
  assert.equal(outputState({ power_kw: -2.5, expected_kw: 50 }, to_zero), 'curtailed')
  assert.equal(outputState({ power_kw: -0.4, expected_kw: 0 }, to_zero), 'free')
})

test('what a curtailed inverter could not have given either is lost to clipping', () => {
  const output = { power_kw: 60, expected_kw: 120 }
  assert.deepEqual(limitLoss(output, curtailed), { clipping_kw: 20, curtailment_kw: 40 })
  assert.deepEqual(limitLoss({ ...output, power_kw: 100 }, free), {
    clipping_kw: 20,
    curtailment_kw: 0,
  })
  const held_lower = { ...output, power_kw: 30 }
  assert.deepEqual(limitLoss(held_lower, curtailed), { clipping_kw: 0, curtailment_kw: 0 })
  // A limit that is not obeyed yet has cost no more than is missing.
  const above = { ...output, power_kw: 90 }
  assert.deepEqual(limitLoss(above, curtailed), { clipping_kw: 20, curtailment_kw: 10 })
  assert.deepEqual(limitLoss({ ...output, power_kw: 104 }, curtailed), {
    clipping_kw: 16,
    curtailment_kw: 0,
  })
  assert.equal(limitLoss({ power_kw: 60, expected_kw: null }, curtailed), null)
  assert.equal(limitLoss({ power_kw: null, expected_kw: 120 }, curtailed), null)
})

test('the losses of a held output are never negative and add up to what is missing', () => {
  const kw = fc.double({ min: 0, max: 200, noNaN: true })
  fc.assert(
    fc.property(kw, kw, fc.option(kw), (power_kw, expected_kw, curtailed_to_kw) => {
      const limits = { rated_kw: 100, curtailed_to_kw }
      const loss = limitLoss({ power_kw, expected_kw }, limits)
      assert.ok(loss !== null && loss.clipping_kw >= 0 && loss.curtailment_kw >= 0)
      const sum_kw = loss.clipping_kw + loss.curtailment_kw
      const missing_kw = Math.max(0, expected_kw - power_kw)
      const is_held = outputState({ power_kw, expected_kw }, limits) !== 'free'
      assert.ok(Math.abs(sum_kw - (is_held ? missing_kw : 0)) < 1e-9)
      if (curtailed_to_kw === null) assert.equal(loss.curtailment_kw, 0)
    }),
  )
})
