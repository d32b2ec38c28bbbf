/**
 * A profile: the registers of a maker's devices as data, one YAML file for a family of devices.
 * The edge reads and limits by it, the simulator serves a device from it. docs/guides/
 * connect-a-device.md explains how to write one; edge/profiles/example/acme_x.yaml is one to copy.
 *
 * A profile states only what a document or a measurement says. Open questions are listed in
 * `unknown`; where a limit depends on one, the profile assumes the worse case.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { pcsStates } from './battery.ts'
import { inverterStates, type ReadingKind, readingKinds } from './readings.ts'
import { Closed, Name } from './schema.ts'

/**
 * Units of makers. `column` is the ending of the columns that such a value may go to. A column
 * value is the register value times `multiply`, divided by `divide`.
 */
export const units = {
  W: { column: '_kw', multiply: 1, divide: 1000 },
  kW: { column: '_kw', multiply: 1, divide: 1 },
  MW: { column: '_kw', multiply: 1000, divide: 1 },
  var: { column: '_kvar', multiply: 1, divide: 1000 },
  kvar: { column: '_kvar', multiply: 1, divide: 1 },
  VA: { column: '_kva', multiply: 1, divide: 1000 },
  kVA: { column: '_kva', multiply: 1, divide: 1 },
  Wh: { column: '_kwh', multiply: 1, divide: 1000 },
  kWh: { column: '_kwh', multiply: 1, divide: 1 },
  MWh: { column: '_kwh', multiply: 1000, divide: 1 },
  V: { column: '_v', multiply: 1, divide: 1 },
  A: { column: '_a', multiply: 1, divide: 1 },
  mA: { column: '_a', multiply: 1, divide: 1000 },
  Hz: { column: '_hz', multiply: 1, divide: 1 },
  '°C': { column: '_c', multiply: 1, divide: 1 },
  Ω: { column: '_kohm', multiply: 1, divide: 1000 },
  kΩ: { column: '_kohm', multiply: 1, divide: 1 },
  MΩ: { column: '_kohm', multiply: 1000, divide: 1 },
  s: { column: '_s', multiply: 1, divide: 1 },
  '%': { column: '_pct', multiply: 1, divide: 1 },
  /** Percent of the rated power in `site.yaml`. */
  '% rated': { column: '_pct', multiply: 1, divide: 1 },
  ratio: { column: 'power_factor', multiply: 1, divide: 1 },
  'W/m²': { column: '_w_m2', multiply: 1, divide: 1 },
  hPa: { column: '_hpa', multiply: 1, divide: 1 },
  Pa: { column: '_hpa', multiply: 1, divide: 100 },
  'm/s': { column: '_m_s', multiply: 1, divide: 1 },
  '°': { column: '_deg', multiply: 1, divide: 1 },
  mm: { column: '_mm', multiply: 1, divide: 1 },
} as const
type Unit = keyof typeof units

const words = {
  u16: 1,
  i16: 1,
  u32: 2,
  i32: 2,
  u64: 4,
  i64: 4,
  f32: 2,
  f64: 4,
  bcd16: 1,
  bcd32: 2,
} as const
export type NumberType = keyof typeof words
const numberTypes = Object.keys(words) as NumberType[]

const wordOrders = ['high_first', 'low_first'] as const
export type WordOrder = (typeof wordOrders)[number]

const Raws = Type.Array(Type.Integer(), { minItems: 1 })

const at = {
  /** Address on the wire, from 0. Documents that count from 1 are one above. */
  address: Type.Integer({ minimum: 0, maximum: 65_535 }),
  /** The maker's own name. */
  name: Name,
  /** The Modbus table. Defaults to holding registers (function 3); input is function 4. */
  table: Type.Optional(Type.Enum(['holding', 'input'])),
  /** Of this value alone, where it differs from the rest of the device. */
  word_order: Type.Optional(Type.Enum([...wordOrders])),
  /** True if the low byte of each register comes first. */
  swap_bytes: Type.Optional(Type.Boolean()),
  /** Not in every device: its absence is no fault and does not prevent limits. */
  optional: Type.Optional(Type.Boolean()),
  /** Only one source has it: it is read, and never used to limit. */
  unconfirmed: Type.Optional(Type.Boolean()),
  /** Only one source has it, and a limit or setpoint uses it: commissioning warns of it. */
  one_source: Type.Optional(Type.Boolean()),
}

const number = {
  type: Type.Enum(numberTypes),
  /** The value is the register times this. Defaults to 1; negative for the opposite sign. */
  scale: Type.Optional(Type.Number()),
  /** Absent for a code or a count. */
  unit: Type.Optional(Type.Enum(Object.keys(units) as Unit[])),
  /** Raw values that mean "no value", in addition to those of the type. */
  absent: Type.Optional(Raws),
  /** Bits that belong to the value. */
  mask: Type.Optional(Type.Integer({ minimum: 1, maximum: 0xffff })),
}

/** A register of a number. */
export type NumberRegister = Static<typeof NumberRegister>
export const NumberRegister = Closed({
  ...at,
  ...number,
  /** A register with the power of ten by which the value is multiplied as well. */
  scale_register: Type.Optional(Closed({ ...at, ...number })),
})

/** A register of a number or of a text, of two characters per register and ended by a zero. */
export type Register = Static<typeof Register>
export const Register = Closed({
  ...at,
  ...number,
  type: Type.Enum([...numberTypes, 'text']),
  /** Number of registers of a text. */
  words: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
})

/** A register whose raw value only devices of the family have. */
export type Mark = Static<typeof Mark>
const Mark = Closed({
  register: Register,
  /** Raw values and ranges (both ends included) of a number, one of which it must have. */
  values: Type.Optional(Type.Array(Type.Number(), { minItems: 1 })),
  ranges: Type.Optional(
    Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), { minItems: 1 }),
  ),
  /** Beginnings of a text, one of which it must have, in upper or lower case. */
  begins_with: Type.Optional(Type.Array(Type.String({ minLength: 2 }), { minItems: 1 })),
})

/** Power in a unit of power, or in percent of another register. */
export type Power = Static<typeof Power>
const power = {
  register: NumberRegister,
  /** Percent only: the register with 100 %. */
  base: Type.Optional(NumberRegister),
}
const Power = Closed(power)

export type Setting = Static<typeof Setting>
const Setting = Closed({
  register: NumberRegister,
  /** The raw value to write. */
  raw: Type.Integer(),
  /** The register cannot be read back, so that it is written each time. */
  write_only: Type.Optional(Type.Boolean()),
})

export type Check = Static<typeof Check>
const Check = Closed({
  register: NumberRegister,
  /** The right raw values. Give these or the wrong ones. */
  right: Type.Optional(Raws),
  wrong: Type.Optional(Raws),
  /** Text for the commissioning engineer otherwise. No value of a limit. */
  otherwise: Type.String({ minLength: 1 }),
})

/** Fail-safe of the device: its own action after communication loss. */
export type FailSafe = Static<typeof FailSafe>
const FailSafe = Closed({
  /** Whether it is active; absent if no register tells, and then it counts as active. */
  mode: Type.Optional(Closed({ register: NumberRegister, keeps: Raws, applies: Raws })),
  /** Registers with the fallback; where documents do not say which one acts, the highest counts. */
  limits: Type.Array(Power, { minItems: 1 }),
  /**
   * `silence`: no communication at all. `no_setpoint`: no writes, which is normal while the limit
   * does not change, so that this fallback may apply at any time.
   */
  after: Type.Enum(['silence', 'no_setpoint']),
})

export type LimitProfile = Static<typeof LimitProfile>
const LimitProfile = Closed({
  /** Written last, in multiples of `step` (1) up to 100 %, or to the static ceiling. */
  setpoint: Closed({ ...power, step: Type.Optional(Type.Integer({ minimum: 1 })) }),
  /** Settings that enable the setpoint, written before it in this order. */
  enable: Type.Optional(Type.Array(Setting)),
  /** True if the device takes one register per write (function 6). */
  single_writes: Type.Optional(Type.Boolean()),
  /**
   * Registers with the limit in force: the source that `selector` names, or the only one. An
   * unknown value of the selector counts as no limit.
   */
  in_force: Closed({
    selector: Type.Optional(NumberRegister),
    /** Registers that the device requires in the same request. */
    read_along: Type.Optional(Type.Array(NumberRegister)),
    sources: Type.Array(Closed({ ...power, when: Type.Optional(Type.Integer()) }), {
      minItems: 1,
    }),
    /**
     * The stored setpoint, in a unit of power. Counts after a write while all registers of
     * `in_force` have only ever shown 0 and prove nothing.
     */
    stored: Type.Optional(NumberRegister),
  }),
  /** Highest power without a limit: the minimum of these, times `ratio`. */
  ceilings: Type.Optional(
    Type.Array(Closed({ ...power, ratio: Type.Optional(Type.Number({ minimum: 1 })) })),
  ),
  /** Timer that ends the limit, with the value for "never". */
  timer: Type.Optional(Setting),
  fail_safe: Type.Optional(FailSafe),
  checks: Type.Optional(Type.Array(Check)),
  /** True only if documented; a lost limit counts as none. */
  survives_power_loss: Type.Boolean(),
  /** Minimum time between raises: setting registers wear out, and some devices need a pause. */
  min_interval_ms: Type.Integer({ minimum: 0 }),
  /** Time after an accepted write within which `in_force` may show the value before; 0: none. */
  applies_within_ms: Type.Integer({ minimum: 0 }),
  /**
   * How fast power follows a lower limit: a register with the gradient in percent of rated power
   * per second, or a documented time. Absent: not documented.
   */
  ramp_gradient: Type.Optional(NumberRegister),
  ramp_within_ms: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Lowest raw setpoint known to keep feeding in; lower limits become 0. Defaults to 0. */
  raw_min: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Largest rounding of a setpoint by the device, up or down, raw. Defaults to 0. */
  raw_tolerance: Type.Optional(Type.Integer({ minimum: 0 })),
})

/** Equal inputs in a row: registers of the first; the next are `stride` further on. */
export type Inputs = Static<typeof Inputs>
const Inputs = Closed({
  voltage: Type.Optional(NumberRegister),
  current: Type.Optional(NumberRegister),
  power: Type.Optional(NumberRegister),
  stride: Type.Integer({ minimum: 1 }),
  count: Type.Integer({ minimum: 1, maximum: 64 }),
})

/** Columns of numbers that a register may fill; the driver computes the others. */
const columnsOf = (kind: ReadingKind): string[] =>
  Object.entries(readingKinds[kind].columns).flatMap(([name, type]) =>
    type === 'real' || type === 'double' ? [name] : [],
  )
const computed = ['power_limit_pct', 'setpoint_kw', 'setpoint_kvar', 'throttle_pct']

/** Registers by the column of the reading, as many as the device has. */
const Readings = (kind: ReadingKind) =>
  Closed(
    Object.fromEntries(
      columnsOf(kind)
        .filter((name) => !computed.includes(name))
        .map((name) => [name, Type.Optional(NumberRegister)]),
    ),
  )

/** Raw codes by state; the first set bit of `flags` decides before them. */
const State = <Names extends readonly string[]>(names: Names) =>
  Closed({
    register: NumberRegister,
    codes: Type.Optional(
      Closed(Object.fromEntries(names.map((name) => [name, Type.Optional(Raws)]))),
    ),
    flags: Type.Optional(
      Type.Array(
        Closed({ bit: Type.Integer({ minimum: 0, maximum: 31 }), state: Type.Enum([...names]) }),
      ),
    ),
    /** State of any other value. Defaults to unknown. */
    otherwise: Type.Optional(Type.Enum([...names])),
  })

/** Table of domain/alarms that decodes the words; each from its lowest 16 bits on. */
const Alarms = Closed({
  table_id: Name,
  words: Type.Array(Type.Array(NumberRegister, { minItems: 1, maxItems: 2 }), {
    minItems: 1,
    maxItems: 5,
  }),
})

const InverterProfile = Closed({
  ratings: Type.Optional(
    Closed({
      rated_power: Type.Optional(NumberRegister),
      /** 100 % of the limit in readings. */
      max_power: Type.Optional(NumberRegister),
    }),
  ),
  /** Inputs in use by the settings of the device, for `heliograph-edge scan`. */
  input_counts: Type.Optional(Closed({ strings: NumberRegister, mppts: NumberRegister })),
  readings: Readings('inverter'),
  state: Type.Optional(State(inverterStates)),
  strings: Type.Optional(Type.Array(Inputs)),
  mppts: Type.Optional(Type.Array(Inputs)),
  alarms: Type.Optional(Alarms),
  limit: Type.Optional(LimitProfile),
})

/** A plant controller, which limits all inverters of its plant by one command. */
const ControllerProfile = Closed({
  active_power: NumberRegister,
  /** Control authority: raw codes of masters other than Modbus, with their names. */
  control_mode: Type.Optional(
    Closed({
      register: NumberRegister,
      others: Type.Array(Closed({ code: Type.Integer(), name: Name })),
    }),
  ),
  /** Alarms of the controller itself. */
  alarms: Type.Optional(Alarms),
  limit: LimitProfile,
})

const PcsProfile = Closed({
  readings: Readings('pcs'),
  state: State(pcsStates),
  alarms: Type.Optional(Alarms),
  /** 16 bits in W or kW, positive towards the grid; 0 stops. Written by function 6. */
  setpoint: NumberRegister,
  /** Time without communication after which the device stops; 0: never. */
  watchdog: NumberRegister,
})

const MeterProfile = Closed({
  /** Direction of positive power by the maker's document. Defaults to export. */
  positive_power: Type.Optional(Type.Enum(['export', 'import'])),
  readings: Readings('meter'),
})

const WeatherProfile = Closed({
  /** Registers by the name that an instrument of `site.yaml` gives as its `point`. */
  points: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]*$' }), NumberRegister),
})

/** What a file may describe; a device has what its file describes. */
const capabilities = {
  inverter: Type.Optional(InverterProfile),
  controller: Type.Optional(ControllerProfile),
  pcs: Type.Optional(PcsProfile),
  meter: Type.Optional(MeterProfile),
  weather: Type.Optional(WeatherProfile),
} satisfies Record<string, TSchema>
type Capability = keyof typeof capabilities
export const capabilityNames = Object.keys(capabilities) as Capability[]

export type Profile = Static<typeof Profile>
export const Profile = Closed({
  identity: Closed({
    manufacturer: Name,
    family: Name,
    model: Type.Optional(Register),
    serial_number: Type.Optional(Register),
    firmware_version: Type.Optional(Register),
    /**
     * How `heliograph-edge scan` recognises a device: all of these must hold. Without any, it is
     * not recognised.
     */
    recognised_by: Type.Optional(Type.Array(Mark, { minItems: 1 })),
  }),
  /** Documents and measurements that the file follows. */
  sources: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
  /** Facts that no source gives. */
  unknown: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
  /** Of values of several registers. Defaults to high_first. */
  word_order: Type.Optional(Type.Enum([...wordOrders])),
  /** What one request may hold, where the device takes less than Modbus does. */
  requests: Type.Optional(
    Closed({
      registers_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 125 })),
      /** Unused registers that one request may read across. Defaults to 20. */
      gap_max: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    }),
  ),
  ...capabilities,
})

type Described<Name extends Capability> = NonNullable<Profile[Name]>
export type InverterPart = Described<'inverter'>
export type PcsPart = Described<'pcs'>

export function wordsOf({ type, words: count = 1 }: Register): number {
  return type === 'text' ? count : words[type]
}

/** The scale of a register as a fraction of whole numbers, so that decimal results are exact. */
export function fractionOf({ scale = 1 }: Pick<NumberRegister, 'scale'>): {
  times: number
  per: number
} {
  for (let per = 1; per <= 1_000_000; per *= 10) {
    const times = Math.round(scale * per)
    if (times !== 0 && Math.abs(scale * per - times) < 1e-9 * Math.abs(times)) return { times, per }
  }
  return { times: scale, per: 1 }
}

export const isPercent = ({ unit }: Pick<NumberRegister, 'unit'>): boolean =>
  unit === '%' || unit === '% rated'

/** All registers of a limit that are read. */
export function limitRegisters(limit: LimitProfile): NumberRegister[] {
  const { setpoint, enable = [], in_force, ceilings = [], timer, fail_safe, checks = [] } = limit
  const powers: Power[] = [setpoint, ...in_force.sources, ...ceilings]
  if (fail_safe) powers.push(...fail_safe.limits)
  const settings = [...enable, ...(timer ? [timer] : [])].filter((one) => !one.write_only)
  return [
    ...powers.flatMap(({ base }) => base ?? []),
    ...in_force.sources.map(({ register }) => register),
    ...(in_force.selector ? [in_force.selector] : []),
    ...(in_force.read_along ?? []),
    ...(in_force.stored ? [in_force.stored] : []),
    ...ceilings.map(({ register }) => register),
    ...settings.map(({ register }) => register),
    ...(fail_safe?.limits ?? []).map(({ register }) => register),
    ...(fail_safe?.mode ? [fail_safe.mode.register] : []),
    ...checks.map(({ register }) => register),
    ...(limit.ramp_gradient ? [limit.ramp_gradient] : []),
  ]
}

/** Registers by which power is set, and which one source alone has. */
export function oneSourceControls({ inverter, controller, pcs }: Profile): NumberRegister[] {
  const limits = [inverter, controller].flatMap((part) => part?.limit ?? [])
  const registers = [
    ...limits.flatMap((limit) => [
      limit.setpoint.register,
      ...(limit.enable ?? []).map(({ register }) => register),
      ...limitRegisters(limit),
    ]),
    ...(pcs ? [pcs.setpoint, pcs.watchdog] : []),
  ]
  const marked = registers.filter(({ one_source }) => one_source)
  return [...new Map(marked.map((register) => [register.address, register])).values()]
}

/** The inputs one by one, in their order; each may be missing. */
export function inputRegisters(rows: readonly Inputs[] = []) {
  return rows.flatMap(({ voltage, current, power, stride, count }) =>
    Array.from({ length: count }, (_, nth) => {
      const moved = (register: NumberRegister | undefined): NumberRegister | null =>
        register
          ? {
              ...register,
              name: `${register.name} ${nth + 1}`,
              address: register.address + nth * stride,
              optional: true,
            }
          : null
      return { voltage: moved(voltage), current: moved(current), power: moved(power) }
    }),
  )
}
