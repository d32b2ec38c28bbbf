/** Colours that also differ in lightness, and a sign for each unhealthy status. */
import type { StringHealth } from '@heliograph/sdk'

export type Status = StringHealth['status']

export const looks: Record<Status, { fill: string; ink: string; sign: string }> = {
  healthy: { fill: '#a6cee3', ink: '#000000', sign: '' },
  watch: { fill: '#f5e6a3', ink: '#000000', sign: '·' },
  underperforming: { fill: '#f0a830', ink: '#000000', sign: '–' },
  critical: { fill: '#b5451b', ink: '#ffffff', sign: '!' },
  dead: { fill: '#2b0b3f', ink: '#ffffff', sign: '×' },
  no_data: { fill: '#dee2e6', ink: '#000000', sign: '?' },
}

export const statuses = Object.keys(looks) as Status[]
