/** Formats numbers with units, and times in the zone of the site. Null is a dash, never 0. */

export const none = '–'

type Value = number | null | undefined

export const isKnown = (value: Value): value is number => Number.isFinite(value)

const formats = new Map<number, Intl.NumberFormat>()

export function formatNumber(value: Value, digits = 1): string {
  if (!isKnown(value)) return none
  let format = formats.get(digits)
  if (!format) {
    format = new Intl.NumberFormat('en', {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      // -0.02 is 0.0, not -0.0.
      signDisplay: 'negative',
    })
    formats.set(digits, format)
  }
  return format.format(value)
}

/** `12.3 kW`, with a no-break space. */
export const formatQuantity = (value: Value, unit: string, digits = 1) =>
  isKnown(value) ? `${formatNumber(value, digits)}\u00a0${unit}` : none

/** kW, or MW from 10 MW. */
export const formatPower = (kw: Value) =>
  isKnown(kw) && Math.abs(kw) >= 10_000
    ? formatQuantity(kw / 1000, 'MW', 2)
    : formatQuantity(kw, 'kW')

formatPower.unit = 'kW'

/** kWh, or MWh from 10 MWh. */
export const formatEnergy = (kwh: Value) =>
  isKnown(kwh) && Math.abs(kwh) >= 10_000
    ? formatQuantity(kwh / 1000, 'MWh', 2)
    : formatQuantity(kwh, 'kWh')

formatEnergy.unit = 'kWh'

/** The same as a function, for columns of tables. */
export const inUnit = (unit: string, digits = 1) =>
  Object.assign((value: Value) => formatQuantity(value, unit, digits), { unit })

export function formatMoney(amount: Value, currency: string | null): string {
  if (!isKnown(amount) || currency === null) return none
  const options = { style: 'currency', currency, signDisplay: 'negative' } as const
  return new Intl.NumberFormat('en', options).format(amount)
}

export type TimeStyle = 'time' | 'date' | 'full' | 'day'

const styles: Record<TimeStyle, Intl.DateTimeFormatOptions> = {
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  date: { dateStyle: 'medium' },
  day: { weekday: 'short', day: 'numeric', month: 'short' },
  full: { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' },
}

export function formatTime(
  at: string | null | undefined,
  timezone: string,
  style: TimeStyle,
): string {
  if (!at) return none
  return new Intl.DateTimeFormat('en-GB', { ...styles[style], timeZone: timezone }).format(
    new Date(at),
  )
}

/** `2024-05-01` to `1 May 2024`. */
export const formatDate = (date: string | null | undefined) => formatTime(date, 'UTC', 'date')

/** `3 min ago`. */
export function formatAge(age_s: Value): string {
  if (!isKnown(age_s)) return none
  const [s = 0, min = 0, h = 0] = [1, 60, 3600].map((unit_s) => Math.round(age_s / unit_s))
  if (s < 60) return `${Math.max(0, s)} s ago`
  if (min < 60) return `${min} min ago`
  return h < 48 ? `${h} h ago` : `${Math.round(h / 24)} days ago`
}

formatAge.unit = 's'

/** Two largest units, such as `2 h 05 min` or `3 days 4 h`. */
export function formatDuration(duration_s: number | null | undefined): string {
  if (!isKnown(duration_s)) return none
  const s = Math.max(0, Math.round(duration_s))
  if (s < 60) return `${s} s`
  const min = Math.floor(s / 60)
  if (min < 60) return `${min} min`
  const h = Math.floor(min / 60)
  if (h < 48) return `${h} h ${String(min % 60).padStart(2, '0')} min`
  return `${Math.floor(h / 24)} days ${h % 24} h`
}

/** `in_progress` to `In progress`. */
export function inWords(code: string): string {
  const text = code.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const choices = (codes: readonly string[]) =>
  codes.map((value) => ({ value, label: inWords(value) }))

const instant = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::\d\d)?\s?(?:UTC|Z)\b/g

export const inSiteTime = (text: string, timezone: string): string =>
  text.replaceAll(instant, (_, date: string, clock: string) =>
    formatTime(`${date}T${clock}:00Z`, timezone, 'full'),
  )

/** Sum; null when a part is unknown. */
export const sumAll = (values: readonly (number | null)[]): number | null =>
  values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

/** Sum of the known values; null without any. */
export function sumKnown<Row>(rows: readonly Row[], of: (row: Row) => number | null) {
  const known = rows.map(of).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** `+1.2 %`, with a no-break space. */
export const formatSigned = (pct: Value) =>
  isKnown(pct) ? `${pct > 0 ? '+' : ''}${formatNumber(pct)}\u00a0%` : none
