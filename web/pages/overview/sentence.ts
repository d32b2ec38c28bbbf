import type { Overview } from '@heliograph/sdk'
import { formatNumber, formatPower } from '../../ui/format.ts'

type Now = Pick<
  Overview['status'],
  'ac_power_kw' | 'available_power_kw' | 'is_daylight' | 'curtailed_power_kw'
>

/** What the plant does now, and whether the day earned what it should. */
export function sentence(status: Now, share_today_pct: number | null): string {
  const now = nowOf(status)
  if (share_today_pct === null) return now
  return `${now} Today so far: ${formatNumber(share_today_pct, 0)} % of the expected energy.`
}

function nowOf(status: Now): string {
  const { ac_power_kw, available_power_kw, is_daylight, curtailed_power_kw } = status
  if (ac_power_kw === null) return 'Present power is not known.'
  if (is_daylight === false && ac_power_kw <= 0) return 'Night: no production.'
  const power = `The site delivers ${formatPower(ac_power_kw)}`
  if (available_power_kw === null || available_power_kw < 1) return `${power}.`
  if (!keepsBack(curtailed_power_kw)) return `${power}.`
  // What inverters call available is their own power unless a limit holds them.
  const share = formatNumber(Math.min(100, (ac_power_kw / available_power_kw) * 100), 0)
  return `${power}, ${share} % of what is available: it is curtailed.`
}

/** Less is noise of the measurement, and what plants take at night. */
const keepsBack = (curtailed_kw: number | null) => (curtailed_kw ?? 0) >= 0.5

/** What limits in force keep back now. */
export function keptBackWords(curtailed_kw: number | null): string {
  if (curtailed_kw === null) return 'what that keeps back now is not known'
  if (!keepsBack(curtailed_kw)) return 'that keeps nothing back now'
  return `they could deliver ${formatPower(curtailed_kw)} more`
}

/** More than sensors and models are apart: part of the day is not summed up yet, %. */
const believed_max_pct = 105

export function shareOf(energy_kwh: unknown, expected_kwh: unknown): number | null {
  if (typeof energy_kwh !== 'number' || typeof expected_kwh !== 'number') return null
  if (expected_kwh <= 0) return null
  const share_pct = (energy_kwh / expected_kwh) * 100
  return share_pct > believed_max_pct ? null : share_pct
}
