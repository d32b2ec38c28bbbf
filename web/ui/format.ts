/** Numbers with their units, and times as they are at the site. Null is never 0: it is a dash. */

export const none = '–'

const formats = new Map<number, Intl.NumberFormat>()

export function formatNumber(value: number | null | undefined, digits = 1): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return none
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

/** `12.3 kW`, with a space that does not break. */
export const formatQuantity = (value: number | null | undefined, unit: string, digits = 1) =>
  value === null || value === undefined ? none : `${formatNumber(value, digits)}\u00a0${unit}`

/** kW, or MW from ten of them on. */
export const formatPower = (kw: number | null | undefined) =>
  kw !== null && kw !== undefined && Math.abs(kw) >= 10_000
    ? formatQuantity(kw / 1000, 'MW', 2)
    : formatQuantity(kw, 'kW')

/** kWh, or MWh from ten of them on. */
export const formatEnergy = (kwh: number | null | undefined) =>
  kwh !== null && kwh !== undefined && Math.abs(kwh) >= 10_000
    ? formatQuantity(kwh / 1000, 'MWh', 2)
    : formatQuantity(kwh, 'kWh')

export function formatMoney(amount: number | null | undefined, currency: string | null): string {
  if (amount === null || amount === undefined || currency === null) return none
  return new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount)
}

type Style = 'time' | 'date' | 'full' | 'day'

const styles: Record<Style, Intl.DateTimeFormatOptions> = {
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  date: { dateStyle: 'medium' },
  day: { weekday: 'short', day: 'numeric', month: 'short' },
  full: { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' },
}

/** As the clocks of the site have it. */
export function formatTime(at: string | null | undefined, timezone: string, style: Style): string {
  if (!at) return none
  return new Intl.DateTimeFormat('en-GB', { ...styles[style], timeZone: timezone }).format(
    new Date(at),
  )
}

/** `3 min ago`; null where it is not known. */
export function formatAge(age_s: number | null | undefined): string {
  if (age_s === null || age_s === undefined) return none
  if (age_s < 60) return `${Math.max(0, Math.round(age_s))} s ago`
  if (age_s < 3600) return `${Math.round(age_s / 60)} min ago`
  if (age_s < 172_800) return `${Math.round(age_s / 3600)} h ago`
  return `${Math.round(age_s / 86_400)} days ago`
}
