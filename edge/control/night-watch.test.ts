import assert from 'node:assert/strict'
import test from 'node:test'
import type { Battery } from '@heliograph/domain/battery'
import { day_ms, hour_ms, minute_ms } from '@heliograph/domain/durations'
import { batteryOf } from '../battery/fixtures/mixed-site.ts'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import { controllerKey } from './device-name.ts'
import { NightWatch, type Sun } from './night-watch.ts'

const at = (time: string) => Date.parse(`2026-06-21T${time}:00Z`)
/** At 48 N, 12 E the sun is below -6° from 19:56 until 2:32, below 5° from 18:33 until 3:54. */
const evening = at('17:00')
const midnight = at('23:00')

const meter = { connection: 'a', driver: 'sunspec', unit_id: 1 } as const
const meters = [
  { ...meter, meter_id: 1, name: 'M1', role: 'grid_connection' as const },
  { ...meter, meter_id: 2, name: 'M2', role: 'auxiliary' as const },
]

interface Watched {
  batteries?: Battery[]
  from?: number
  /** By how much the server is ahead; null: it never tells. */
  server_ahead_ms?: number | null
}

/** One inverter of 100 kW, watched from then on. */
function watched({ batteries = [], from = evening, server_ahead_ms = 0 }: Watched = {}) {
  const watch = new NightWatch()
  const inverters = [inverterOf(1, { rated_ac_power_kw: 100 })]
  watch.apply(siteOf(inverters, { meters, batteries }))
  let ahead_ms = server_ahead_ms
  const look = (now: number, more: { steady?: number; lead_ms?: number } = {}): Sun | null => {
    const server = ahead_ms === null ? null : now + ahead_ms
    const { steady = now, lead_ms = 0 } = more
    const clocks = [now, steady, server ?? now]
    const times = [now, Math.min(...clocks), Math.max(...clocks)]
    return watch.look({ now, times, server, now_ms: now - from, lead_ms })
  }
  const setServer = (ms: number | null) => {
    ahead_ms = ms
  }
  look(from)
  return { watch, look, setServer, now_ms: (now: number) => now - from }
}

test('the sun is low around sunset, and it is night until well before dawn', () => {
  const { look } = watched()
  const seen = ['18:20', '18:45', '19:50', '20:00', '23:59'].map((time) => look(at(time)))
  assert.deepEqual(seen, ['day', 'low', 'low', 'night', 'night'])
  const morning = ['2:26', '2:30', '3:45', '3:52'].map((time) => look(at(`0${time}`) + day_ms))
  assert.deepEqual(morning, ['night', 'low', 'low', 'day'])
  // Others that come down slowly get the time that they need.
  assert.equal(look(at('02:20') + day_ms, { lead_ms: 20 * minute_ms }), 'low')
})

test('a clock that nobody confirmed since the start knows no night', () => {
  const { look, setServer } = watched({ from: midnight, server_ahead_ms: null })
  assert.equal(look(midnight + 59_000), null)
  assert.equal(look(midnight + minute_ms), 'day')
  setServer(2 * hour_ms)
  assert.equal(look(midnight + 2 * minute_ms), 'day')
  setServer(0)
  assert.equal(look(midnight + 3 * minute_ms), 'night')
  // The server is not reached any more: its time goes on, or the clock was confirmed before.
  setServer(null)
  assert.equal(look(midnight + 4 * minute_ms), 'night')
})

test('each clock has to say so', () => {
  const { look, setServer } = watched()
  assert.equal(look(midnight), 'night')
  assert.equal(look(midnight, { steady: at('17:00') }), 'day')
  assert.equal(look(midnight, { steady: at('19:40') }), 'low')
  setServer(-6 * hour_ms)
  assert.equal(look(midnight), 'day')
  // A clock that was set to another night, with the day by the server between the two.
  setServer(-12 * hour_ms)
  assert.equal(look(midnight + day_ms, { steady: midnight }), 'day')
})

test('after a start each device has a minute to show power', () => {
  const { look } = watched({ from: midnight })
  assert.equal(look(midnight + 59_000), 'low')
  assert.equal(look(midnight + minute_ms), 'night')
})

test('PV power puts the night in doubt for an hour, noise does not', () => {
  const { watch, look, now_ms } = watched()
  watch.onPower(1, 1000, now_ms(midnight))
  assert.equal(look(midnight), 'night')
  watch.onPower(1, 1001, now_ms(midnight))
  watch.onPower(1, null, now_ms(midnight) + 1)
  assert.equal(look(midnight), 'low')
  assert.equal(look(midnight + hour_ms - 1), 'low')
  assert.equal(look(midnight + hour_ms), 'night')
  watch.onPower(controllerKey(1), 2000, now_ms(midnight) + hour_ms)
  assert.equal(look(midnight + hour_ms), 'low')
})

test('much power is no low sun', () => {
  const { watch, look, now_ms } = watched()
  const sunset = at('19:00')
  watch.onPower(1, 26_000, now_ms(sunset))
  assert.equal(look(sunset + 9 * minute_ms), 'day')
  assert.equal(look(sunset + 10 * minute_ms), 'low')
  assert.equal(look(midnight), 'night')
})

test('much power by night proves the clock or the coordinates wrong, for a day', () => {
  const { watch, look, now_ms } = watched()
  watch.onPower(1, 26_000, now_ms(midnight))
  assert.equal(look(midnight), 'day')
  // All inverters fall silent: they may deliver as much as before.
  assert.equal(look(midnight + 2 * hour_ms), 'day')
  assert.equal(look(midnight + day_ms - 1), 'day')
  assert.equal(look(midnight + day_ms), 'night')
  // Another place of the site begins anew, the same does not.
  watch.onPower(1, 26_000, now_ms(midnight + day_ms))
  look(midnight + day_ms)
  const site = siteOf([inverterOf(1, { rated_ac_power_kw: 100 })], { meters })
  watch.apply(site)
  assert.equal(look(midnight + day_ms + 2 * hour_ms), 'day')
  watch.apply({ ...site, latitude: 49 })
  assert.equal(look(midnight + day_ms + 2 * hour_ms), 'night')
})

test('export that no battery explains is PV, where it lasts for a minute', () => {
  const { watch, look, now_ms } = watched()
  const export_w = (power_w: number | null, battery_w: number, seconds: number) =>
    watch.onMeter(1, power_w, () => battery_w, now_ms(midnight) + 1000 * seconds)
  const looked = (seconds: number) => look(midnight + 1000 * seconds)
  export_w(90_000, 90_000, 0)
  export_w(90_000, 60_000, 5)
  export_w(90_000, 60_000, 60)
  export_w(90_000, 90_000, 62)
  export_w(90_000, 60_000, 65)
  export_w(null, 0, 70)
  export_w(90_000, 60_000, 75)
  export_w(2000, 0, 130)
  assert.equal(looked(130), 'night')
  export_w(2000, 0, 135)
  assert.equal(looked(135), 'low')
  // What a battery takes in comes from somewhere; what it gets from the grid is import.
  const charged = watched()
  for (const second of [0, 60])
    charged.watch.onMeter(1, -50_000, () => -50_000, 6 * hour_ms + second)
  assert.equal(charged.look(midnight), 'night')
  for (const ms of [0, minute_ms]) charged.watch.onMeter(1, 0, () => -50_000, 6 * hour_ms + ms)
  assert.equal(charged.look(midnight + minute_ms), 'day')
  // A meter of something else measures no PV.
  const other = watched()
  for (const ms of [0, minute_ms]) other.watch.onMeter(2, 50_000, () => 0, 6 * hour_ms + ms)
  assert.equal(other.look(midnight + minute_ms), 'night')
})

test('an inverter with a battery on its DC side delivers at night', () => {
  const { look } = watched({ batteries: [batteryOf(1, { coupling: 'hybrid' })] })
  assert.equal(look(midnight), 'day')
  assert.equal(watched({ batteries: [batteryOf(1)] }).look(midnight), 'night')
})
