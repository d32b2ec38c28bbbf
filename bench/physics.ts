/**
 * Speed of the physics on one core beside that of pvlib: single-diode solutions of seven points,
 * positions of the sun, and the chain from the sun to the maximum power of a module.
 *
 * `PVLIB_PATH` names a directory with the package `pvlib`; it runs under `PVLIB_PYTHON`, by default
 * Debian's, with numpy, scipy and pandas. Without it, the figures are printed beside those that
 * were once measured elsewhere, and no ratio is judged.
 *
 * Each side is a process of its own on the same core, with one thread for linear algebra, and they
 * take turns; each figure is the best of the rounds in seconds of processor time, so that what else
 * the machine does counts little. That both did the same work is shown by checksums.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { absoluteAirmass, relativeAirmass } from '@heliograph/physics/airmass'
import { clearSkyPower } from '@heliograph/physics/chain'
import { ineichenPerez } from '@heliograph/physics/clear-sky'
import { singleDiodePoints } from '@heliograph/physics/iv-curve'
import { solarPositions } from '@heliograph/physics/solar-position'
import { quickOr } from './fixtures/quick.ts'

const rounds = quickOr(1, 12)

/** Input of both sides. */
const inputs = {
  count: 100_000,
  seed: 12_345,
  place: {
    latitude_deg: 42.15,
    longitude_deg: 24.75,
    altitude_m: 160,
    pressure_pa: 99_000,
    delta_t_s: 67,
    linke_turbidity: 3,
    albedo_ratio: 0.2,
    surface: { tilt_deg: 30, azimuth_deg: 180 },
  },
  /** CSI Solar CS7L-600MB-AG, of the CEC list of 2021-12-01. */
  module: {
    a_ref_v: 1.65724,
    i_l_ref_a: 18.4877,
    i_o_ref_a: 2.7e-10,
    r_s_ohm: 0.0755302,
    r_sh_ref_ohm: 78.6082,
    alpha_sc_a_per_c: 0.0097891,
    adjust_pct: 14.9697,
  },
}

type JobName = 'points' | 'positions' | 'clear_sky' | 'chain'

interface Result {
  seconds: number
  checksums: Record<string, number>
}

interface Figure {
  job: JobName
  what: string
  /** Rate of the peer per second, measured earlier: 0.15.2, one core, best of 5 to 7. */
  peer_elsewhere: number
  limit: number
}

const figures: readonly Figure[] = [
  { job: 'points', what: 'single-diode solutions', peer_elsewhere: 604e3, limit: 1.25 },
  { job: 'positions', what: 'solar positions', peer_elsewhere: 1.06e6, limit: 4 },
  { job: 'chain', what: 'chains from sun to power', peer_elsewhere: 429e3, limit: 2 },
]

/** Known sums over all elements, and what one unit of their last digit is. */
const expected: Partial<Record<JobName, Record<string, { sum: number; digit: number }>>> = {
  points: { p_mp_w: { sum: 33_472_746.0548, digit: 1e-4 } },
  positions: {
    apparent_zenith_deg: { sum: 8_970_539.86581, digit: 1e-5 },
    azimuth_deg: { sum: 18_001_253.98183, digit: 1e-5 },
  },
  clear_sky: { ghi_w_m2: { sum: 22_260_041.06585, digit: 1e-5 } },
}
/** How much the sums of the chain may differ, relative, when both use one distance of the sun. */
const chain_ratio_max = 1e-9

if (process.argv[2] === 'heliograph') await heliograph()
else process.exitCode = (await compare()) ? 0 : 1

/** Our side: a job for each line, a result for each. */
async function heliograph(): Promise<void> {
  const jobs = preparedJobs()
  for await (const line of createInterface({ input: process.stdin })) {
    const began = process.cpuUsage()
    const checksums = jobs[line as JobName]()
    const used = process.cpuUsage(began)
    const seconds = (used.user + used.system) / 1e6
    process.stdout.write(`${JSON.stringify({ seconds, checksums: checksums() })}\n`)
  }
}

function preparedJobs(): Record<JobName, () => () => Record<string, number>> {
  const { count, place, module } = inputs
  const { latitude_deg, longitude_deg, altitude_m, delta_t_s } = place
  let state = inputs.seed
  const uniform = Float64Array.from({ length: 2 * count }, () => {
    state = (Math.imul(1_664_525, state) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  })
  const first = uniform.subarray(0, count)
  const second = uniform.subarray(count)
  const conditions = {
    irradiance_w_m2: first.map((u) => 50 + 1050 * u),
    cell_temperature_c: second.map((u) => -10 + 80 * u),
  }
  const start_ms = Date.UTC(2024, 0, 1)
  const span_ms = Date.UTC(2024, 11, 31, 23, 59) - start_ms
  const weather = {
    times_ms: Float64Array.from(
      { length: count },
      (_, i) => start_ms + (span_ms * i) / (count - 1),
    ),
    air_temperature_c: first.map((u) => -5 + 35 * u),
    wind_speed_m_s: second.map((u) => 8 * u),
  }
  const positions = () =>
    solarPositions(weather.times_ms, latitude_deg, longitude_deg, {
      elevation_m: altitude_m,
      pressure_pa: 101_325,
      delta_t_s,
    })
  return {
    points() {
      const { p_mp_w } = singleDiodePoints(module, conditions)
      return () => ({ p_mp_w: sum(p_mp_w) })
    },
    positions() {
      const { apparent_zenith_deg, azimuth_deg } = positions()
      return () => ({
        apparent_zenith_deg: sum(apparent_zenith_deg),
        azimuth_deg: sum(azimuth_deg),
      })
    },
    clear_sky() {
      const ghi_w_m2 = positions().apparent_zenith_deg.map((apparent_zenith_deg, i) =>
        clearSkyGhi(apparent_zenith_deg, weather.times_ms[i]!),
      )
      return () => ({ ghi_w_m2: sum(ghi_w_m2) })
    },
    chain() {
      const { p_mp_w } = clearSkyPower({ ...place, module }, weather)
      return () => ({ p_mp_w: sum(p_mp_w) })
    },
  }
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Global irradiance with the sun's distance as the peer has it: J. W. Spencer, Search 2, 1971. */
function clearSkyGhi(apparent_zenith_deg: number, time_ms: number): number {
  const { altitude_m, linke_turbidity, pressure_pa } = inputs.place
  const day = Math.floor((time_ms - Date.UTC(2024, 0, 1)) / 86_400_000)
  const turn = (2 * Math.PI * day) / 365
  const distance_term =
    1.00011 +
    0.034221 * Math.cos(turn) +
    0.00128 * Math.sin(turn) +
    0.000719 * Math.cos(2 * turn) +
    7.7e-5 * Math.sin(2 * turn)
  const airmass = relativeAirmass(apparent_zenith_deg)
  return ineichenPerez({
    apparent_zenith_deg,
    absolute_airmass: airmass === null ? null : absoluteAirmass(airmass, pressure_pa),
    linke_turbidity,
    altitude_m,
    dni_extra_w_m2: 1366.1 * distance_term,
  }).ghi_w_m2
}

/** True when no limit is missed. Fails on wrong checksums. */
async function compare(): Promise<boolean> {
  const pvlib_path = process.env['PVLIB_PATH']
  const pin = pinning()
  const peer = pvlib_path === undefined ? null : pvlib(pvlib_path, pin)
  const ours = side([
    ...pin,
    process.execPath,
    ...process.execArgv,
    fileURLToPath(import.meta.url),
    'heliograph',
  ])
  try {
    const sides = peer === null ? [ours] : [peer, ours]
    for (const one of sides) checkSums('clear_sky', await one.run('clear_sky'))
    if (peer !== null) checkChains(await peer.run('exact_chain'), await ours.run('chain'))
    let passed = true
    for (const figure of figures) {
      const best = await bestOf(figure.job, sides)
      const ours_per_s = inputs.count / best.at(-1)!.seconds
      const peer_per_s = peer === null ? figure.peer_elsewhere : inputs.count / best[0]!.seconds
      const ratio = ours_per_s / peer_per_s
      const judged = `ratio ${ratio.toFixed(2)} (best of ${rounds}), limit ${figure.limit}`
      process.stdout.write(
        `${figure.what}: ${thousands(ours_per_s)} a second, pvlib ${thousands(peer_per_s)}` +
          `${peer === null ? ' on another machine, not compared' : `; ${judged}`}\n`,
      )
      passed &&= peer === null || ratio >= figure.limit
    }
    if (peer === null) process.stdout.write('no PVLIB_PATH: pvlib did not run\n')
    if (pin.length === 0) process.stdout.write('no taskset: not held to one core\n')
    return passed
  } finally {
    await Promise.all([ours.end(), peer?.end()])
  }
}

/** Least processor time of each side for a job; they take turns. The first round warms up. */
async function bestOf(job: JobName, sides: readonly Side[]): Promise<Result[]> {
  const best: Result[] = []
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, one] of sides.entries()) {
      const result = await one.run(job)
      checkSums(job, result)
      if (round === 1 || (round > 1 && result.seconds < best[at]!.seconds)) best[at] = result
    }
  }
  return best
}

function checkSums(job: JobName, result: Result): void {
  for (const [name, { sum: known, digit }] of Object.entries(expected[job] ?? {})) {
    const off = Math.abs(result.checksums[name]! - known)
    if (!(off <= digit)) throw new Error(`${job}: sum of ${name} is ${off} off ${known}`)
  }
}

function checkChains(peer: Result, ours: Result): void {
  const off = Math.abs(ours.checksums['p_mp_w']! / peer.checksums['p_mp_w']! - 1)
  if (!(off <= chain_ratio_max)) throw new Error(`chain: the sums of power differ by ${off}`)
}

interface Side {
  run(job: JobName | 'exact_chain'): Promise<Result>
  end(): Promise<void>
}

/** A process that answers each line with one line. */
function side(command: readonly string[], first_line?: string): Side {
  const [program, ...args] = command
  const child: ChildProcess = spawn(program!, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' },
  })
  const stopped = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code) => resolve(`exit ${code}`))
  })
  // `run` reports a process that did not start or has stopped, with its reason.
  child.stdin!.on('error', () => {})
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  if (first_line !== undefined) child.stdin!.write(`${first_line}\n`)
  return {
    async run(job) {
      child.stdin!.write(`${job}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`${program} stopped before ${job} was done: ${await stopped}`)
      return JSON.parse(value) as Result
    },
    async end() {
      child.stdin!.end()
      await stopped
    },
  }
}

function pvlib(path: string, pin: readonly string[]): Side {
  if (!existsSync(join(path, 'pvlib'))) throw new Error(`PVLIB_PATH: no pvlib in ${path}`)
  const python = process.env['PVLIB_PYTHON'] ?? '/usr/bin/python3'
  const script = fileURLToPath(new URL('fixtures/physics-peer.py', import.meta.url))
  return side([...pin, python, script, path], JSON.stringify(inputs))
}

/** The command that pins a process to one core, if the machine has it. */
function pinning(): string[] {
  const pin = ['taskset', '-c', String(availableParallelism() - 1)]
  return spawnSync(pin[0]!, [...pin.slice(1), 'true']).status === 0 ? pin : []
}

function thousands(per_second: number): string {
  return `${Math.round(per_second / 1000)} k`
}
