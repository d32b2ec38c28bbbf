/** Reads a profile and reports all its problems with their places. */
import { findAlarmTable } from './alarms/tables.ts'
import {
  capabilityNames,
  fractionOf,
  type Inputs,
  inputRegisters,
  isPercent,
  type LimitProfile,
  type Mark,
  type NumberRegister,
  type Power,
  Profile,
  type Register,
  units,
  wordsOf,
} from './profile.ts'
import type { SitePath, SiteProblem } from './site-check.ts'
import { parseYamlFile, type ReadFile } from './yaml-file.ts'

export const parseProfile = (text: string): ReadFile<Profile> =>
  parseYamlFile<Profile>(text, { schema: Profile, check: checkProfile, is_strict: true })

interface Placed {
  register: Register
  path: SitePath
}

function checkProfile(profile: Profile): SiteProblem[] {
  const registers = placedRegisters(profile)
  const limits = (['inverter', 'controller'] as const).flatMap((kind) => {
    const limit = profile[kind]?.limit
    return limit ? [{ limit, path: [kind, 'limit'] }] : []
  })
  return [
    ...checkCapabilities(profile),
    ...(profile.identity.recognised_by ?? []).flatMap(checkMark),
    ...registers.flatMap((one) => checkRegister(one, profile)),
    // A register that identifies a device may show another value where it is read alone.
    ...checkOverlaps(registers.filter(({ path }) => path[1] !== 'recognised_by')),
    ...checkReadings(profile),
    ...(profile.controller ? checkCodes('controller', profile.controller) : []),
    ...limits.flatMap(({ limit, path }) => checkLimit(limit, path)),
    ...checkSetpoint(profile),
  ]
}

function checkCapabilities(profile: Profile): SiteProblem[] {
  if (capabilityNames.some((name) => profile[name])) return []
  return [{ path: [], message: `must describe one of ${capabilityNames.join(', ')}` }]
}

function checkMark(mark: Mark, nth: number): SiteProblem[] {
  const { register, values, ranges, begins_with } = mark
  const path = ['identity', 'recognised_by', nth]
  const is_text = register.type === 'text'
  if (is_text ? !begins_with : !(values || ranges)) {
    const message = `needs ${is_text ? 'begins_with' : 'values or ranges'}: what is recognised?`
    return [{ path, message }]
  }
  if (is_text ? values || ranges : begins_with) {
    const message = 'a text has begins_with, and a number values or ranges'
    return [{ path, message }]
  }
  return (ranges ?? []).flatMap(([from = 0, to = 0], at) =>
    from <= to ? [] : [{ path: [...path, 'ranges', at], message: 'ends before it begins' }],
  )
}

function isRegister(value: object): value is Register {
  return 'address' in value && 'type' in value
}

/** All registers of a profile with their paths, those of equal inputs one by one. */
export const placedRegisters = (profile: Profile): Placed[] => registersIn(profile, [])

function registersIn(value: unknown, path: SitePath): Placed[] {
  if (typeof value !== 'object' || value === null) return []
  if (isRegister(value)) {
    const { scale_register } = value as NumberRegister
    const own = { register: value, path }
    if (!scale_register) return [own]
    return [own, { register: scale_register, path: [...path, 'scale_register'] }]
  }
  if ('stride' in value) return inputsIn(value as Inputs, path)
  return Object.entries(value).flatMap(([name, part]) =>
    registersIn(part, [...path, Array.isArray(value) ? Number(name) : name]),
  )
}

function inputsIn(inputs: Inputs, path: SitePath): Placed[] {
  return inputRegisters([inputs]).flatMap((input) =>
    Object.entries(input).flatMap(([name, register]) =>
      register ? [{ register, path: [...path, name] }] : [],
    ),
  )
}

function checkRegister({ register, path }: Placed, { requests }: Profile): SiteProblem[] {
  const problems: SiteProblem[] = []
  const wrong = (field: string, message: string) =>
    problems.push({ path: [...path, field], message })
  const { type, address, words, mask, scale } = register
  if (scale === 0) wrong('scale', 'a scale of zero makes every value zero')
  if (type === 'text' && words === undefined) wrong('type', 'a text needs its number of words')
  if (type !== 'text' && words !== undefined) wrong('words', 'only a text has a number of words')
  if (mask !== undefined && type !== 'u16') wrong('mask', 'only a u16 has a mask')
  if (address + wordsOf(register) > 65_536) wrong('address', 'the last register is 65535')
  const { registers_max = 125 } = requests ?? {}
  if (wordsOf(register) > registers_max) {
    wrong('type', `has ${wordsOf(register)} registers, and a request at most ${registers_max}`)
  }
  return problems
}

const tableOf = ({ table = 'holding' }: Register) => table

/** The same words as two different values: from another address on, or as another type. */
function checkOverlaps(registers: readonly Placed[]): SiteProblem[] {
  const problems: SiteProblem[] = []
  const sorted = registers.toSorted(
    (a, b) =>
      tableOf(a.register).localeCompare(tableOf(b.register)) ||
      a.register.address - b.register.address,
  )
  let widest: Placed | undefined
  for (const one of sorted) {
    const { register, path } = one
    const end = register.address + wordsOf(register)
    if (widest && tableOf(widest.register) === tableOf(register)) {
      const { name, address, type } = widest.register
      const is_same = address === register.address && type === register.type
      if (!is_same && register.address < address + wordsOf(widest.register)) {
        const message = `overlaps ${name} (${address}, ${type})`
        problems.push({ path: [...path, 'address'], message })
      }
    }
    const reaches =
      !widest ||
      tableOf(widest.register) !== tableOf(register) ||
      end >= widest.register.address + wordsOf(widest.register)
    if (reaches) widest = one
  }
  return problems
}

function checkReadings(profile: Profile): SiteProblem[] {
  return (['inverter', 'pcs', 'meter'] as const).flatMap((kind) => {
    const part = profile[kind]
    if (!part) return []
    const columns = Object.entries(part.readings).flatMap(([column, register]) => {
      const unit = register?.unit
      if (unit && column.endsWith(units[unit].column)) return []
      const message = unit ? `is no quantity in ${unit}` : 'needs a unit'
      return [{ path: [kind, 'readings', column], message }]
    })
    return [...columns, ...checkCodes(kind, part)]
  })
}

function checkCodes(kind: string, part: object): SiteProblem[] {
  const { state, alarms } = part as NonNullable<Profile['pcs' | 'inverter']>
  const problems: SiteProblem[] = []
  if (state && !state.codes && !state.flags) {
    problems.push({ path: [kind, 'state'], message: 'needs codes or flags' })
  }
  if (alarms && !findAlarmTable(alarms.table_id)) {
    const message = `there is no alarm table '${alarms.table_id}'`
    problems.push({ path: [kind, 'alarms', 'table_id'], message })
  }
  return problems
}

function checkLimit(limit: LimitProfile, path: SitePath): SiteProblem[] {
  const { setpoint, enable = [], in_force, ceilings = [], timer, fail_safe, checks = [] } = limit
  const powers: [Power, SitePath][] = [
    [setpoint, ['setpoint']],
    ...in_force.sources.map((one, nth): [Power, SitePath] => [one, ['in_force', 'sources', nth]]),
    ...ceilings.map((one, nth): [Power, SitePath] => [one, ['ceilings', nth]]),
  ]
  const fallbacks = (fail_safe?.limits ?? []).map((one, nth): [Power, SitePath] => [
    one,
    ['fail_safe', 'limits', nth],
  ])
  powers.push(...fallbacks)
  const written: [NumberRegister, SitePath][] = [
    [setpoint.register, ['setpoint']],
    ...enable.map((one, nth): [NumberRegister, SitePath] => [one.register, ['enable', nth]]),
  ]
  if (timer) written.push([timer.register, ['timer']])
  for (const [{ register }, at] of fallbacks) written.push([register, at])
  const within = (rest: SitePath) => [...path, ...rest]
  const problems: SiteProblem[] = [
    ...powers.flatMap(([power, at]) => checkPower(power, within(at))),
    ...written.flatMap(([register, at]) => checkWritten(register, within([...at, 'register']))),
    ...registersIn(limit, path).flatMap(checkConfirmed),
    ...checks.flatMap(({ right, wrong }, nth) =>
      (right === undefined) === (wrong === undefined)
        ? [{ path: within(['checks', nth]), message: 'needs right or wrong, one of them' }]
        : [],
    ),
  ]
  const { sources, selector } = in_force
  for (const [nth, { when }] of sources.entries()) {
    const is_chosen = when !== undefined && selector !== undefined
    const is_alone = when === undefined && selector === undefined && sources.length === 1
    if (!is_chosen && !is_alone) {
      const message = 'needs a selector, and the value of it with which this source applies'
      problems.push({ path: within(['in_force', 'sources', nth]), message })
    }
  }
  return problems
}

function checkPower({ register, base }: Power, path: SitePath): SiteProblem[] {
  const at = [...path, 'register']
  const { unit } = register
  if ((unit === '%') !== (base !== undefined)) {
    const message = base
      ? 'has a base, and is no percentage of it'
      : 'percent of what? Name the base'
    return [{ path: at, message }]
  }
  const problems = [base, register].flatMap((one): SiteProblem[] => {
    if (!one) return []
    if (!isPercent(one) && (!one.unit || units[one.unit].column !== '_kw')) {
      return [{ path: at, message: 'needs a unit of power' }]
    }
    const { times, per } = fractionOf(one)
    const is_whole = Number.isInteger(times) && times > 0 && Number.isInteger(per)
    return is_whole ? [] : [{ path: [...at, 'scale'], message: 'must be a positive decimal' }]
  })
  if (register.scale_register || base?.scale_register) {
    problems.push({ path: at, message: 'a limit needs a fixed scale' })
  }
  return problems
}

function checkWritten({ table }: NumberRegister, path: SitePath): SiteProblem[] {
  if (table !== 'input') return []
  return [{ path: [...path, 'table'], message: 'an input register cannot be written' }]
}

function checkConfirmed({ register: { unconfirmed }, path }: Placed): SiteProblem[] {
  if (!unconfirmed) return []
  const message = 'an unconfirmed register is never used to limit'
  return [{ path: [...path, 'unconfirmed'], message }]
}

function checkSetpoint({ pcs }: Profile): SiteProblem[] {
  if (!pcs) return []
  const path = ['pcs', 'setpoint']
  return [
    ...checkPower({ register: pcs.setpoint }, ['pcs']).map(({ message }) => ({ path, message })),
    ...checkWritten(pcs.setpoint, path),
    ...registersIn(pcs.setpoint, path).flatMap(checkConfirmed),
  ]
}
