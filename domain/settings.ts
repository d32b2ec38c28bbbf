/** Settings from environment variables; all faults are reported at once. */

export interface Settings {
  /** An empty variable counts as not set. */
  text(name: string): string | null
  integer(name: string, range: { fallback: number; minimum: number; maximum: number }): number
  choice<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value
  logLevel(): string
  fault(name: string, why: string): void
  /** @throws {Error} naming every invalid setting */
  check(): void
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

export function settingsOf(environment: Readonly<Record<string, string | undefined>>): Settings {
  const faults: string[] = []
  const settings: Settings = {
    text: (name) => environment[name] || null,
    integer(name, { fallback, minimum, maximum }) {
      const text = settings.text(name)
      if (text === null) return fallback
      const value = Number(text)
      if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
      settings.fault(name, `a whole number from ${minimum} to ${maximum}, not '${text}'`)
      return fallback
    },
    choice(name, values, fallback) {
      const text = settings.text(name) ?? fallback
      const value = values.find((each) => each === text)
      if (!value) settings.fault(name, `one of ${values.join(', ')}, not '${text}'`)
      return value ?? fallback
    },
    logLevel: () => settings.choice('LOG_LEVEL', logLevels, 'info'),
    fault: (name, why) => faults.push(`${name}: ${why}`),
    check() {
      if (faults.length === 0) return
      throw new Error(`The settings are not right:\n  ${faults.join('\n  ')}`)
    },
  }
  return settings
}
