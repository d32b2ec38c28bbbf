/** The protocol of a commissioning test: what was tested, measured and found. */
import type { Site } from '@heliograph/domain/site'
import { checkPower } from './check-power.ts'
import { checkQuantities } from './check-quantities.ts'
import { checkSite } from './check-site.ts'
import type { CheckedDevice } from './checked-device.ts'
import type { SiteDevice } from './site-devices.ts'
import { type TestResult, type TestRow, without } from './test-row.ts'
import { type TriedLimit, trialRows } from './try-limit.ts'

export interface Protocol {
  site_id: string
  site_name: string
  timezone: string
  tested_at: string
  software: string
  /** Account that ran the test. */
  run_by: string
  result: 'passed' | 'failed'
  counts: Record<TestResult, number>
  devices: ProtocolDevice[]
  tests: TestRow[]
  /** Null: no limit was to be tried. */
  tried_limits: TriedLimit[] | null
}

interface ProtocolDevice {
  name: string
  kind: SiteDevice['kind']
  /** Connection and unit id. */
  address: string
  driver: string
  manufacturer: string | null
  model: string | null
  serial_number: string | null
  firmware_version: string | null
}

interface Tested {
  site: Site
  devices: readonly CheckedDevice[]
  tried_limits?: TriedLimit[] | null
  now: Date
  software: string
  run_by: string
}

export function protocolOf(tested: Tested): Protocol {
  const { site, devices, tried_limits = null, now, software, run_by } = tested
  const tests = [
    ...devices.flatMap((one) => [...checkQuantities(one), ...checkPower(one, devices)]),
    ...checkSite(site, devices, now.getTime()),
    ...(tried_limits?.flatMap(trialRows) ?? [
      without('not_judged', null, 'trial of limits', 'not tried'),
    ]),
  ]
  const count = (result: TestResult) => tests.filter((one) => one.result === result).length
  const counts = {
    passed: count('passed'),
    failed: count('failed'),
    warning: count('warning'),
    not_judged: count('not_judged'),
  }
  return {
    site_id: site.site_id,
    site_name: site.name,
    timezone: site.timezone,
    tested_at: now.toISOString(),
    software,
    run_by,
    result: counts.failed > 0 ? 'failed' : 'passed',
    counts,
    devices: devices.map(protocolDevice),
    tests,
    tried_limits,
  }
}

function protocolDevice({ of, read }: CheckedDevice): ProtocolDevice {
  const { name, kind, connection, unit_id, driver } = of
  const { manufacturer, model, serial_number, firmware_version } = read?.identity ?? {
    manufacturer: null,
    model: null,
    serial_number: null,
    firmware_version: null,
  }
  return {
    name,
    kind,
    address: `${connection}, unit ${unit_id}`,
    driver,
    manufacturer,
    model,
    serial_number,
    firmware_version,
  }
}

export const resultNames: Readonly<Record<TestResult, string>> = {
  passed: 'passed',
  failed: 'FAILED',
  warning: 'warning',
  not_judged: 'not judged',
}

export const siteWide = 'Site'

/** Measured values in few characters: the lowest and the highest of several. */
export function measuredText({ measured, unit }: TestRow): string {
  if (measured === null) return ''
  if (typeof measured === 'number') return withUnit(numberText(measured), unit)
  const [low, high] = [Math.min(...measured), Math.max(...measured)].map(numberText)
  const range = low === high ? low : `${low} to ${high}`
  return `${withUnit(range ?? '', unit)} (${measured.length})`
}

export function boundText({ min, max, unit }: TestRow): string {
  if (min !== null && max !== null) {
    return withUnit(`${numberText(min)} to ${numberText(max)}`, unit)
  }
  if (max !== null) return `at most ${withUnit(numberText(max), unit)}`
  return min === null ? '' : `at least ${withUnit(numberText(min), unit)}`
}

const withUnit = (text: string, unit: string | null): string =>
  unit === null ? text : `${text} ${unit}`

/** Four significant digits, and no fewer than the whole number. */
function numberText(value: number): string {
  const whole_digits = Math.trunc(Math.abs(value)).toString().length
  return Number(value.toFixed(Math.max(0, 4 - whole_digits))).toString()
}

/** The tests as a table for a terminal. */
export function protocolText({ tests, counts }: Protocol): string {
  const head = ['device', 'test', 'result', 'measured', 'bound', 'reason']
  const rows = tests.map((row) => [
    row.device ?? siteWide,
    row.test,
    resultNames[row.result],
    measuredText(row),
    boundText(row),
    row.reason ?? '',
  ])
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)))
  const lines = [head, ...rows].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
  const { passed, failed, warning, not_judged } = counts
  const sum = `${passed} passed, ${failed} failed, ${warning} warnings, ${not_judged} not judged`
  return [...lines, '', sum, ''].join('\n')
}
