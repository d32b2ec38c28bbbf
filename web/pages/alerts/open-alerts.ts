/** Open alerts of all sites of the person. */
import type { SiteAlertList } from '../../generated/platform.ts'
import { usePlatformList } from '../../queries.ts'

export const useOpenAlerts = (enabled = true) =>
  usePlatformList<SiteAlertList>('open-alerts', '/alerts', {}, { enabled, refetchInterval: 30_000 })
