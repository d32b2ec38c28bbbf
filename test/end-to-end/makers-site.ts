/**
 * One simulated device of each maker, with its registers as they are before an edge first comes,
 * what they come to in watts, and how they have to be armed: all of it worked out here, apart from
 * the edge's own drivers.
 */
import type { Inverter, Logger, Site } from '@heliograph/domain/site'
import { type ModelId, models } from '@heliograph/domain/sunspec/models'
import { smallSite } from '@heliograph/simulator/fixtures/site'

/** Holding registers of one device. */
export interface Registers {
  read(address: number, count: number): Promise<readonly number[]>
  write(address: number, words: readonly number[]): Promise<void>
}

export interface Device {
  name: string
  logger_id: number
  unit_id: number
  rated_w: number
  /** Of its limit, in parts of `rated_w`. */
  steps_full: number
  /** Its readings give its limit in percent of this; without it, of `rated_w`. */
  max_w?: number
  /** It may show so many steps more than it was told. */
  steps_off?: number
  /** As whoever was there before left it. */
  leave(registers: Registers): Promise<void>
  /** The most that its registers let it deliver, now or by themselves later, W. */
  allowed_w(registers: Registers): Promise<number>
  /** What is not armed as it has to be, its share of the permit being `share_w`. */
  unarmed(registers: Registers, share_w: number): Promise<string[]>
  /** Function 16 is refused, as by makers that know function 6 only. */
  wants_single?: true
}

type Kind = Omit<Device, 'name' | 'logger_id' | 'unit_id' | 'rated_w'>

const limit_on = 0xaa
const remote_control = 4
const left_timer_s = 900
/** How far Sungrow goes without a limit and, as simulated, Huawei, of the rated power. */
const max_ratio = 1.1

const long = ([high = 0, low = 0]: readonly number[]) => high * 0x1_0000 + low
const word = async ({ read }: Registers, address: number) => (await read(address, 1))[0]!
const longAt = async ({ read }: Registers, address: number) => long(await read(address, 2))
const unless = (is_right: boolean, what: string) => (is_right ? [] : [what])

/** A point of a SunSpec model: where it stands, found by the chain of models. */
async function pointAt(registers: Registers, id: ModelId, name: string): Promise<number> {
  const [, offset] = models[id].points.find(([point]) => point === name)!
  for (let at = 40_002; ; ) {
    const [found, length] = (await registers.read(at, 2)) as [number, number]
    if (found === id) return at + offset
    if (found === 0xffff) throw new Error(`there is no model ${id}`)
    at += 2 + length
  }
}

const point = async (registers: Registers, id: ModelId, name: string) =>
  word(registers, await pointAt(registers, id, name))

const scale = async (registers: Registers, id: ModelId, name: string) =>
  10 ** (((await point(registers, id, name)) << 16) >> 16)

const sunspec123: Kind = {
  steps_full: 1000,
  async leave(registers) {
    await registers.write(await pointAt(registers, 123, 'WMaxLimPct_RvrtTms'), [left_timer_s])
  },
  async allowed_w(registers) {
    const max_w = (await point(registers, 121, 'WMax')) * (await scale(registers, 121, 'WMax_SF'))
    const timer_s = await point(registers, 123, 'WMaxLimPct_RvrtTms')
    // The timer of this model leads to no limit at all.
    if ((await point(registers, 123, 'WMaxLim_Ena')) !== 1 || timer_s > 0) return max_w
    const percent =
      (await point(registers, 123, 'WMaxLimPct')) * (await scale(registers, 123, 'WMaxLimPct_SF'))
    return (max_w * percent) / 100
  },
  async unarmed(registers) {
    const timer_s = await point(registers, 123, 'WMaxLimPct_RvrtTms')
    return unless(timer_s === 0, 'a timer ends the limit')
  },
}

const sunspec704: Kind = {
  steps_full: 10_000,
  async leave(registers) {
    const timer = await pointAt(registers, 704, 'WMaxLimPctRvrtTms')
    await registers.write(timer, [0, left_timer_s])
  },
  async allowed_w(registers) {
    const max_w = (await point(registers, 702, 'WMax')) * (await scale(registers, 702, 'W_SF'))
    const step = (await scale(registers, 704, 'WMaxLimPct_SF')) / 100
    const by = async (enable: string, percent: string) => {
      const is_on = (await point(registers, 704, enable)) === 1
      return is_on ? max_w * (await point(registers, 704, percent)) * step : max_w
    }
    // The timer was left on: what it leads to is about to come.
    return Math.max(
      await by('WMaxLimPctEna', 'WMaxLimPct'),
      await by('WMaxLimPctEnaRvrt', 'WMaxLimPctRvrt'),
    )
  },
  async unarmed(registers, share_w) {
    const limit = await point(registers, 704, 'WMaxLimPct')
    const revert = await point(registers, 704, 'WMaxLimPctRvrt')
    const is_on = (await point(registers, 704, 'WMaxLimPctEnaRvrt')) === 1
    const allowed_w = await sunspec704.allowed_w(registers)
    return [
      ...unless(is_on, 'the timer leads to no limit'),
      ...unless(revert === limit, 'the timer leads to another limit'),
      ...unless(allowed_w <= share_w, 'the timer leads above the share'),
    ]
  },
}

const sun2000 = (rated_w: number): Kind => ({
  steps_full: rated_w,
  max_w: rated_w * max_ratio,
  async leave(registers) {
    // By a master whose commands end where it does not come again within the hour.
    await registers.write(42_019, [0, 3600])
  },
  async allowed_w(registers) {
    const max_w = await longAt(registers, 30_075)
    const valid_s = await longAt(registers, 42_019)
    const [, high, low, command] = await registers.read(35_300, 4)
    return command === 40_126 && valid_s === 0 ? long([high!, low!]) : max_w
  },
  async unarmed(registers, share_w) {
    return [
      ...unless((await longAt(registers, 42_019)) === 0, 'commands end after a time (42019)'),
      ...unless((await longAt(registers, 42_405)) <= share_w, 'fail-safe above the share (42405)'),
    ]
  },
})

const sungrow = (nominal_w: number): Kind => ({
  steps_full: 1000,
  // As it comes: 5007 (wire 5006) is 0x55, and it goes up to 110 %.
  async leave() {},
  async allowed_w(registers) {
    const [is_on, tenths] = await registers.read(5006, 2)
    return is_on === limit_on ? (nominal_w * tenths!) / 1000 : nominal_w * max_ratio
  },
  async unarmed(registers) {
    return unless((await word(registers, 5006)) === limit_on, 'the limit is not on (5007)')
  },
})

const sma = (rated_w: number): Kind => ({
  steps_full: rated_w,
  async leave() {},
  allowed_w: (registers) => longAt(registers, 31_405),
  async unarmed(registers) {
    // 2506 keeps the last setpoint for ever; 2507 would end any limit below the fall-back.
    return [
      ...unless((await longAt(registers, 41_193)) === 2506, 'it falls back by itself (41193)'),
      ...unless((await longAt(registers, 30_835)) === 1079, 'setpoints are ignored (30835)'),
    ]
  },
})

const smartLogger = (rated_w: number): Kind => ({
  steps_full: 100,
  steps_off: 1,
  async leave() {},
  async allowed_w(registers) {
    // What was stored is applied a little later, and has to count from then on.
    const stored = (await word(registers, 40_428)) / 10
    const applied = await longAt(registers, 40_802)
    return (rated_w * Math.max(stored, applied)) / 100
  },
  async unarmed(registers) {
    const mode = await word(registers, 40_737)
    return unless(mode === remote_control, `not under remote control, but ${mode} (40737)`)
  },
})

const kinds: Readonly<Record<string, (rated_w: number) => Kind>> = {
  'SunSpec 123': () => sunspec123,
  'SunSpec 704': () => sunspec704,
  'SunSpec 704 by function 6': () => ({ ...sunspec704, wants_single: true }),
  'Huawei SUN2000': sun2000,
  'Sungrow SG': sungrow,
  SMA: sma,
  'Huawei SmartLogger': smartLogger,
}

const placed = [
  { name: 'SunSpec 123', logger_id: 1, unit_id: 1, rated_w: 20_000 },
  { name: 'SunSpec 704', logger_id: 1, unit_id: 2, rated_w: 25_000 },
  { name: 'SunSpec 704 by function 6', logger_id: 1, unit_id: 3, rated_w: 30_000 },
  { name: 'Huawei SUN2000', logger_id: 1, unit_id: 4, rated_w: 33_000 },
  { name: 'Sungrow SG', logger_id: 1, unit_id: 5, rated_w: 36_000 },
  { name: 'SMA', logger_id: 1, unit_id: 6, rated_w: 40_000 },
  { name: 'Huawei SmartLogger', logger_id: 2, unit_id: 0, rated_w: 70_000 },
]

export const devices: readonly Device[] = placed.map((one) => ({
  ...one,
  ...kinds[one.name]!(one.rated_w),
}))

const drivers: Readonly<Record<string, Inverter['driver']>> = {
  'Huawei SUN2000': 'huawei_sun2000',
  'Sungrow SG': 'sungrow_sg',
  SMA: 'sma',
}

/** An unmistakable part of the rated power. */
const permits_w = new Map([
  [1, 157_357],
  [2, 61_613],
])

export const permitOf = (logger_id: number) => permits_w.get(logger_id)!
export const ratedOf = (logger_id: number) =>
  devices.reduce((sum, one) => sum + (one.logger_id === logger_id ? one.rated_w : 0), 0)

/** What a device stands at when its plant is held to `plant_w`. */
export function shareOf(device: Device, plant_w: number): number {
  const { logger_id, rated_w, steps_full, steps_off = 0 } = device
  const share_w = Math.floor((plant_w * rated_w) / ratedOf(logger_id))
  const steps = Math.floor((share_w * steps_full) / rated_w) - steps_off
  return (steps * rated_w) / steps_full
}

export const permitText = [
  'version: 1',
  'site_id: makers',
  'plants:',
  ...[...permits_w].map(([id, w]) => `  - { logger_id: ${id}, permit_kw: ${w / 1000} }`),
  '',
].join('\n')

const [template] = smallSite.loggers[0]!.inverters
const [field] = smallSite.connections
const { meters: _, ...rest } = smallSite

function inverterOf({ name, unit_id, rated_w }: Device): Inverter {
  const driver = drivers[name] ?? 'sunspec'
  const rated_ac_power_kw = rated_w / 1000
  const goes_further = driver === 'huawei_sun2000' || driver === 'sungrow_sg'
  return {
    ...template!,
    inverter_id: unit_id,
    unit_id,
    name,
    driver,
    rated_ac_power_kw,
    connection: 'field-1',
    ...(goes_further && { max_ac_power_kw: rated_ac_power_kw * max_ratio }),
    ...(driver === 'sunspec' && { model: name }),
    limit: { ramp_s: 0 },
  }
}

const behind = [30, 40].map(
  (rated_ac_power_kw, nth): Inverter => ({
    ...template!,
    inverter_id: 11 + nth,
    name: `Behind ${nth + 1}`,
    unit_id: nth + 1,
    rated_ac_power_kw,
    driver: 'huawei_sun2000',
    connection: 'field-2',
    max_ac_power_kw: rated_ac_power_kw,
  }),
)

const loggers: Logger[] = [
  {
    logger_id: 1,
    name: 'Makers',
    rated_power_kw: ratedOf(1) / 1000,
    inverters: devices.filter(({ logger_id }) => logger_id === 1).map(inverterOf),
  },
  {
    logger_id: 2,
    name: 'Behind a controller',
    rated_power_kw: ratedOf(2) / 1000,
    controller: {
      connection: 'field-2',
      unit_id: 0,
      driver: 'huawei_smartlogger',
      limit: { ramp_s: 0 },
    },
    inverters: behind,
  },
]

/** Where it is noon at `now`, so that there is power to be held back. */
export function makersSite(now: Date): Site {
  const hours = now.getUTCHours() + now.getUTCMinutes() / 60
  return {
    ...rest,
    site_id: 'makers',
    name: 'Makers',
    timezone: 'UTC',
    latitude: 0,
    longitude: (12 - hours) * 15,
    poll: { inverter_s: 0.5 },
    connections: loggers.map(({ logger_id }) => ({
      ...field!,
      connection_id: `field-${logger_id}`,
    })),
    loggers,
  }
}
