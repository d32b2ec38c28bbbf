import assert from 'node:assert/strict'
import test from 'node:test'
import {
  beat_timeout_s,
  initialControl,
  type PcsTold,
  revertUntil,
  setpointOf,
  tellPcs,
} from './pcs-control.ts'

function commanded() {
  const control = initialControl()
  return {
    control,
    tell: (told: Partial<PcsTold>, second: number) => tellPcs(control, told, second * 1000),
    at(second: number) {
      revertUntil(control, second * 1000)
      return setpointOf(control, { now_ms: second * 1000, rated_kw: 100 })
    },
  }
}

const watchdog = { revert_s: 30, revert_enabled: true, revert_w: -5000 }

test('without another write a setpoint changes to its fallback', () => {
  const { tell, at } = commanded()
  assert.equal(at(0), null)
  tell({ is_enabled: true, setpoint_w: 60_000, ...watchdog }, 0)
  assert.equal(at(29), 60)
  tell({ setpoint_w: 40_000 }, 29)
  assert.equal(at(58), 40, 'a write begins the time anew')
  assert.equal(at(60), -5)
  tell({ is_enabled: true, setpoint_w: 60_000, revert_enabled: false }, 70)
  assert.equal(at(101), null)
})

test('without a timer it keeps its setpoint', () => {
  const { tell, at } = commanded()
  tell({ is_enabled: true, setpoint_w: 60_000 }, 0)
  assert.equal(at(1e6), 60)
})

test('a heartbeat is no write; a missing one ends control by the master', () => {
  const { tell, at } = commanded()
  tell({ is_enabled: true, setpoint_w: 60_000, ...watchdog, revert_s: 300 }, 0)
  for (let second = 0; second < 60; second += 1) tell({ controller_beat: second + 1 }, second)
  assert.equal(at(59), 60)
  tell({ controller_beat: 60 }, 70)
  assert.equal(at(59 + beat_timeout_s), 60)
  assert.equal(at(60 + beat_timeout_s), null, 'the count stood still since 59 s')
  tell({ controller_beat: 61 }, 100)
  assert.equal(at(101), 60)
  tell({ controller_beat: 62 }, 290)
  assert.equal(at(301), -5, 'beats do not feed the watchdog')
})

test('the older family has bounds, of which a negative maximum acts as a minimum', () => {
  const { tell, at } = commanded()
  const both = { discharge_is_set: true, charge_is_set: true }
  const told = (out_pct: number, in_pct: number) =>
    tell({ bounds: { ...both, out_pct, in_pct } }, 0)
  told(40, -40)
  assert.equal(at(1), 40)
  told(-25, 25)
  assert.equal(at(1), -25)
  told(50, 50)
  assert.equal(at(1), 0, 'nothing asks for power')
  tell({ bounds: { ...both, charge_is_set: false, out_pct: -30, in_pct: 0 } }, 0)
  assert.equal(at(1), -30)
})
