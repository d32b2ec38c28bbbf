import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  faiman,
  noctCellTemperature,
  pvsyst_mountings,
  pvsystCellTemperature,
  rossCellTemperature,
  sapm_mountings,
  sapmCellTemperature,
  sapmModuleTemperature,
} from './cell-temperature.ts'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'

testAgainstOracle('cell_temperature', 'the temperature of the cells', (row) => {
  const weather = {
    poa_w_m2: row.number('poa'),
    air_temperature_c: row.number('temp_air'),
    wind_speed_m_s: row.number('wind'),
  }
  assertWithin(faiman(weather), row.number('faiman'), 1e-9, 'faiman')
  const given = { u0_w_m2_k: row.number('u0'), u1_w_s_m3_k: row.number('u1') }
  assertWithin(faiman(weather, given), row.number('faiman_u'), 1e-9, 'faiman, given u')

  const key = row.text('sapm_key') as keyof typeof sapm_mountings
  const mounting = sapm_mountings[key]
  const table = { a: row.number('a'), b_s_m: row.number('b'), delta_t_c: row.number('deltaT') }
  assert.deepEqual(mounting, table)
  const module_c = sapmModuleTemperature(weather, mounting)
  assertWithin(module_c, row.number('sapm_module'), 1e-9, 'module')
  const cell_c = sapmCellTemperature(module_c, weather.poa_w_m2, mounting.delta_t_c)
  assertWithin(cell_c, row.number('sapm_cell'), 1e-9, 'cell')

  const usual = {
    efficiency_ratio: 0.1,
    absorption_ratio: 0.9,
    cooling: pvsyst_mountings.freestanding,
  }
  assertWithin(pvsystCellTemperature(weather, usual), row.number('pvsyst'), 1e-9, 'pvsyst')
  const efficiency_ratio = row.number('eff')
  const special = {
    efficiency_ratio,
    absorption_ratio: 0.88,
    cooling: { constant_w_m2_k: row.number('u0'), wind_w_s_m3_k: row.number('u1') },
  }
  assertWithin(pvsystCellTemperature(weather, special), row.number('pvsyst2'), 1e-9, 'pvsyst2')

  const noct_c = row.number('noct')
  const sam_c = noctCellTemperature(weather, { noct_c, efficiency_ratio })
  assertWithin(sam_c, row.number('noct_sam'), 1e-9, 'noct')
  const ross_c = rossCellTemperature(weather, (noct_c - 20) / 800)
  assertWithin(ross_c, row.number('ross'), 1e-9, 'ross')
})

const weather = fc.record({
  poa_w_m2: fc.oneof(uniform(-5, 2000), fc.constantFrom(0, 1e-17)),
  air_temperature_c: uniform(-60, 60),
  wind_speed_m_s: uniform(-1, 60),
})

test('a module is never colder than the air, hotter in more sun, cooler in more wind', () => {
  const models = [
    faiman,
    (w: Parameters<typeof faiman>[0]) =>
      sapmModuleTemperature(w, sapm_mountings.open_rack_glass_glass),
    (w: Parameters<typeof faiman>[0]) =>
      pvsystCellTemperature(w, {
        efficiency_ratio: 0.2,
        absorption_ratio: 0.9,
        cooling: { constant_w_m2_k: 25, wind_w_s_m3_k: 1.2 },
      }),
    (w: Parameters<typeof faiman>[0]) =>
      noctCellTemperature(w, { noct_c: 45, efficiency_ratio: 0.2 }),
    (w: Parameters<typeof faiman>[0]) => rossCellTemperature(w, 0.02),
  ]
  fc.assert(
    fc.property(weather, (now) => {
      for (const model of models) {
        const module_c = model(now)
        assert.ok(module_c >= now.air_temperature_c)
        assert.ok(model({ ...now, poa_w_m2: now.poa_w_m2 + 100 }) >= module_c)
        assert.ok(model({ ...now, wind_speed_m_s: now.wind_speed_m_s + 1 }) <= module_c)
      }
    }),
  )
  const still = { poa_w_m2: 1000, air_temperature_c: 20, wind_speed_m_s: 0 }
  assert.equal(faiman(still, { u0_w_m2_k: 0, u1_w_s_m3_k: 6 }), 20)
})

test('a cell with an efficiency of 1 stays at air temperature', () => {
  const weather = { poa_w_m2: 1000, air_temperature_c: 20, wind_speed_m_s: 0 }
  const cooling = { constant_w_m2_k: 0, wind_w_s_m3_k: 2 }
  const given = { efficiency_ratio: 0.2, absorption_ratio: 0.9, cooling }
  assert.equal(pvsystCellTemperature(weather, given), 20)
  assert.equal(noctCellTemperature(weather, { noct_c: 45, efficiency_ratio: 1 }), 20)
})
