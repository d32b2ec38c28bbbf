/** The simulator's settings, read once from the environment; docs/operating.md lists them. */
import { type Fault, parseFault } from './faults.ts'

export interface SimulatorConfig {
  site_file: string
  seed: number
  /** How fast simulated time passes. */
  speed: number
  faults: Fault[]
  /** Where the energy counters outlive the process; null keeps them in memory. */
  state_file: string | null
  log_level: string
}

/** @throws {Error} that names every setting which is not right */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): SimulatorConfig {
  const faults: Fault[] = []
  const wrong: string[] = []
  for (const text of (environment['FAULTS'] || '').split(',').filter((part) => part.trim())) {
    try {
      faults.push(parseFault(text))
    } catch (error) {
      wrong.push(`FAULTS: ${(error as Error).message}`)
    }
  }
  const seed = Number(environment['SEED'] || 1)
  if (!Number.isInteger(seed)) wrong.push(`SEED: a whole number, not '${environment['SEED']}'`)
  const speed = Number(environment['SPEED'] || 1)
  if (!(speed > 0 && speed <= 10_000)) {
    wrong.push(`SPEED: a number above 0 and up to 10000, not '${environment['SPEED']}'`)
  }
  if (wrong.length > 0) throw new Error(`The settings are not right:\n  ${wrong.join('\n  ')}`)
  return {
    site_file: environment['SITE_FILE'] || './site.yaml',
    seed,
    speed,
    faults,
    state_file: environment['STATE_FILE'] || null,
    log_level: environment['LOG_LEVEL'] || 'info',
  }
}
