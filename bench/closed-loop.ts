/**
 * Energy that the closed loop saves. The fields of the demo site are one plant, limited to 40 % of
 * its rating on a day of broken clouds: with fixed shares, with the closed loop, and with the whole
 * limit in use. The fields face south, east and west, clouds pass them in turn, strings are soiled
 * and shaded, and two inverters have failed but answer, or none has. The controller is the edge's
 * own, on virtual time.
 *
 * `--seed` sets the weather, `--hours` the length of the order.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Site } from '@heliograph/domain/site'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { controlledSite, type FakeInverter, rowOf } from '@heliograph/edge/fixtures/controlled-site'
import { parseFault } from '@heliograph/simulator/faults'
import { dayWith } from '@heliograph/simulator/fixtures/days'
import { createSimulation } from '@heliograph/simulator/site'
import { quickOr } from './fixtures/quick.ts'

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '7' },
    hours: { type: 'string', default: quickOr('0.05', '4') },
  },
})
const seed = Number(options.seed)
const row_s = Number(options.hours) * 3600
const row_ratio = 0.4
/** Time to settle before the order starts, and to rise after its end. */
const around_s = 120
const noon_utc_h = 11.2
const morning_utc_h = 7.2
/** Interval at which the sky is computed; it is interpolated in between. */
const sky_s = 5
const meter_s = 5
/** As the simulated inverters of the demo plant follow a limit. */
const ramp_ratio_per_s = 0.1
/** One interval of the loop: two polls. */
const interval_s_max = 10
/** Most energy that redistribution may lose if there is no headroom to assign. */
const ratio_min = 0.99
const dirt_and_shade = [
  ...Array.from({ length: 6 }, (_, nth) => `soiled_string:6/${nth}=0.25`),
  ...Array.from({ length: 4 }, (_, nth) => `shaded_string:1/${nth}`),
]
const failures = ['dead_inverter:3', 'dead_inverter:11']

interface Outcome {
  energy_kwh: number
  excess_w_max: number
  excess_s_max: number
  writes: number
}

const site = demoSite()
const ids = site.loggers.flatMap(({ inverters }) => inverters).map((each) => each.inverter_id)
const ratings_w = site.loggers
  .flatMap(({ inverters }) => inverters)
  .map(({ rated_ac_power_kw }) => rated_ac_power_kw * 1000)
const rated_w = ratings_w.reduce((sum, each_w) => sum + each_w, 0)
const row_w = row_ratio * rated_w
const total_s = row_s + 2 * around_s
const day_at = dayWith(seed, 'broken')

process.stdout.write(
  `${ids.length} inverters, ${rated_w / 1000} kW, held to ${row_w / 1000} kW for ` +
    `${row_s / 3600} h, broken clouds, seed ${seed}\n`,
)
await compare('noon, two inverters failed', noon_utc_h, [...dirt_and_shade, ...failures])
await compare('noon, all run', noon_utc_h, dirt_and_shade)
await compare('morning, all run', morning_utc_h, dirt_and_shade)

function demoSite(): Site {
  const file = new URL('../simulator/demo/site.yaml', import.meta.url)
  const parsed = parseSiteFile(readFileSync(file, 'utf8'))
  if (!('site' in parsed)) throw new Error('the demo site cannot be read')
  return parsed.site
}

/** Power that irradiance allows each inverter, W, in their order, at a second of the run. */
type Sky = (at_s: number) => number[]

function skyWith(faults: readonly string[], middle_utc_h: number): Sky {
  const start_ms = day_at + middle_utc_h * 3_600_000 - (total_s / 2) * 1000
  const simulation = createSimulation(site, seed)
  const parsed = faults.map((fault) => parseFault(fault))
  const steps_w = Array.from({ length: Math.ceil(total_s / sky_s) + 1 }, (_, nth) => {
    const { inverters } = simulation.at(start_ms + nth * sky_s * 1000, parsed)
    const of = new Map(inverters.map((one) => [one.inverter_id, one.available_power_kw * 1000]))
    return ids.map((id) => of.get(id)!)
  })
  return (at_s) => {
    const step = Math.min(Math.floor(at_s / sky_s), steps_w.length - 2)
    const [from_w, to_w] = [steps_w[step]!, steps_w[step + 1]!]
    return from_w.map((each_w, nth) => each_w + (to_w[nth]! - each_w) * (at_s / sky_s - step))
  }
}

async function play(sky: Sky, closed_loop: boolean): Promise<Outcome> {
  const powers_w = ids.map(() => 0)
  const it = await controlledSite({
    count: ids.length,
    permit_w: rated_w,
    site: {
      control: { closed_loop },
      meters: [
        { meter_id: 1, name: 'M', role: 'plant', connection: 'a', unit_id: 99, driver: 'sunspec' },
      ],
    },
    prepare: (inverter) => {
      // The inverter delivers the power computed here, along its ramp.
      inverter.obeys = false
      inverter.available_w = 0
      inverter.first_poll_ms = 100 * inverter.inverter_id
    },
  })
  const begun_at = it.clock.now().getTime()
  const row = rowOf(row_w / 1000, {
    start_at: begun_at + around_s * 1000,
    end_at: begun_at + (around_s + row_s) * 1000,
  })
  await it.controller.hear([row])
  const outcome = { energy_kwh: 0, excess_w_max: 0, excess_s_max: 0, writes: 0 }
  let excess_s = 0
  for (let at_s = 0; at_s < total_s; at_s += 1) {
    const suns_w = sky(at_s)
    it.inverters.forEach((inverter, nth) => {
      powers_w[nth] = followed(inverter, powers_w[nth]!, suns_w[nth]!)
      inverter.available_w = powers_w[nth]!
    })
    const meter_w = Math.round(powers_w.reduce((sum, power_w) => sum + power_w, 0))
    if (at_s % meter_s === 0) it.controller.onMeter(1, meter_w)
    // In the first interval of an order all inverters come down.
    const since_s = at_s - around_s - interval_s_max
    if (at_s >= around_s && at_s < around_s + row_s) outcome.energy_kwh += meter_w / 3.6e6
    if (since_s >= 0 && at_s < around_s + row_s) {
      excess_s = meter_w > row_w ? excess_s + 1 : 0
      outcome.excess_w_max = Math.max(outcome.excess_w_max, meter_w - row_w)
      outcome.excess_s_max = Math.max(outcome.excess_s_max, excess_s)
    }
    await it.clock.advance(1000)
  }
  outcome.writes = it.inverters.reduce((sum, { writes }) => sum + writes.length, 0)
  if (it.faults.length > 0) throw it.faults[0]
  await it.controller.stop()
  return outcome
}

/** A second later: up and down along the ramp, but with the sun at once. */
function followed({ limit_w, static_max_w }: FakeInverter, power_w: number, sun_w: number): number {
  const step_w = ramp_ratio_per_s * static_max_w
  const bound_w = limit_w ?? static_max_w
  const held_w = power_w > bound_w ? Math.max(bound_w, power_w - step_w) : bound_w
  return Math.min(sun_w, held_w)
}

function idealKwh(sky: Sky): number {
  let energy_kwh = 0
  for (let at_s = around_s; at_s < around_s + row_s; at_s += 1) {
    const sun_w = sky(at_s).reduce((sum, each_w) => sum + each_w, 0)
    energy_kwh += Math.min(row_w, sun_w) / 3.6e6
  }
  return energy_kwh
}

async function compare(
  name: string,
  middle_utc_h: number,
  faults: readonly string[],
): Promise<void> {
  const sky = skyWith(faults, middle_utc_h)
  const fixed = await play(sky, false)
  const loop = await play(sky, true)
  const ideal_kwh = idealKwh(sky)
  const line = (what: string, { energy_kwh, excess_w_max, excess_s_max, writes }: Outcome) =>
    `    ${what.padEnd(14)}${energy_kwh.toFixed(0).padStart(7)} kWh` +
    `${((100 * energy_kwh) / ideal_kwh).toFixed(1).padStart(7)} %` +
    `${(Math.max(0, excess_w_max) / 1000).toFixed(1).padStart(7)} kW over the row for ` +
    `${excess_s_max} s at most${String(writes).padStart(6)} writes\n`
  const ratio = loop.energy_kwh / fixed.energy_kwh
  process.stdout.write(
    `  ${name}: closed loop / static split ${ratio.toFixed(3)}, limit ${ratio_min}; over the row ` +
      `for ${loop.excess_s_max} s at most, limit ${interval_s_max} s\n` +
      line('static split', fixed) +
      line('closed loop', loop) +
      `    ${'ideal'.padEnd(14)}${ideal_kwh.toFixed(0).padStart(7)} kWh\n`,
  )
  if (ratio < ratio_min || loop.excess_s_max > interval_s_max) process.exitCode = 1
}
