import assert from 'node:assert/strict'
import test from 'node:test'
import type { InverterLosses } from '@heliograph/sdk'
import { lossesOf } from './loss-parts.ts'

const inverter = (ac_energy_kwh: number, conversion_loss_kwh: number) =>
  ({
    ac_energy_kwh,
    conversion_loss_kwh,
    downtime_loss_kwh: 0,
    curtailment_loss_kwh: 2,
    clipping_loss_kwh: null,
    derating_loss_kwh: 0,
  }) as InverterLosses

const sumOf = (parts: ReturnType<typeof lossesOf>) =>
  parts.reduce((sum, { kwh }) => sum + (kwh ?? 0), 0)

test('losses and delivered energy make up what was expected by the light', () => {
  const parts = lossesOf([inverter(90, 3), inverter(80, 3)], {
    expected_kwh: 190,
    delivered_kwh: 170,
  })
  assert.deepEqual(parts[0], { name: 'Strings, soiling, shading', kwh: 10 })
  assert.equal(sumOf(parts) + 170, 190)
})

test('more than expected is no loss, and without an expectation no rest is told', () => {
  assert.equal(lossesOf([inverter(90, 3)], { expected_kwh: 80, delivered_kwh: 90 })[0]?.kwh, null)
  assert.equal(
    lossesOf([inverter(90, 3)], { expected_kwh: null, delivered_kwh: 90 })[0]?.name,
    'Downtime',
  )
})
