import type { StringHealth } from '@heliograph/sdk'

export const healthNames: Record<StringHealth['status'], string> = {
  healthy: 'Healthy',
  watch: 'Watch',
  underperforming: 'Underperforming',
  critical: 'Critical',
  dead: 'Dead',
  no_data: 'No data',
}
