import assert from 'node:assert/strict'
import test from 'node:test'
import { exclusionOf, isScorable, type ProductionSample } from './production-samples.ts'

const good: ProductionSample = {
  start_ms: 0,
  end_ms: 3_600_000,
  weather: null,
  lead_time_h: 24,
  available_kwh: 5,
  completeness_pct: 95,
  is_curtailed: false,
  is_clipped: false,
  is_faulty: false,
}

test('samples are excluded by reason, and clipped ones still scored', () => {
  const cases: [Partial<ProductionSample>, ReturnType<typeof exclusionOf>, boolean][] = [
    [{}, null, true],
    [{ available_kwh: null }, 'missing', false],
    [{ available_kwh: Number.NaN }, 'missing', false],
    [{ completeness_pct: 94.9 }, 'partial', false],
    [{ completeness_pct: Number.NaN }, 'partial', false],
    [{ is_curtailed: true, is_clipped: true }, 'curtailed', false],
    [{ is_faulty: true }, 'faulty', false],
    [{ is_clipped: true }, 'clipped', true],
  ]
  for (const [change, exclusion, scorable] of cases) {
    const sample = { ...good, ...change }
    assert.equal(exclusionOf(sample), exclusion)
    assert.equal(isScorable(sample), scorable, String(exclusion))
  }
})
