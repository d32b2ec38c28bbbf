/** Alerts or defects that a new order is created from, and form values derived from them. */
import type { Alert, Defect } from '@heliograph/sdk'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'
import { idText, type OrderValues } from './fields.ts'

export interface Origin {
  /** All alerts and defects are loaded. */
  is_known: boolean
  alert_ids: number[]
  defect_ids: number[]
  about: { text: string; href: string }[]
  values: Partial<OrderValues>
}

export function useOrigin(site_id: string, alert_ids: number[], defect_ids: number[]): Origin {
  const alerts = useQuery({
    queryKey: ['origin-alerts', site_id, alert_ids],
    enabled: alert_ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const status: Alert['status'][] = ['active', 'acknowledged', 'resolved']
      const { data } = await heliograph.alertsList({ site_id, status }, { signal })
      return data.filter(({ alert_id }) => alert_ids.includes(alert_id))
    },
  })
  const defects = useQuery({
    queryKey: ['origin-defects', site_id, defect_ids],
    enabled: defect_ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      Promise.all(
        defect_ids.map((defect_id) => heliograph.defectGet({ site_id, defect_id }, { signal })),
      ),
  })
  const found = [...(alerts.data ?? []), ...(defects.data ?? [])]
  return {
    is_known:
      (alert_ids.length === 0 || alerts.data !== undefined) &&
      (defect_ids.length === 0 || defects.data !== undefined),
    alert_ids,
    defect_ids,
    about: [
      ...(alerts.data ?? []).map(({ alert_id, title, message }) => ({
        text: `${title}: ${message}`,
        href: `alerts?alert_id=${alert_id}`,
      })),
      ...(defects.data ?? []).map(({ defect_id, number, title }) => ({
        text: `${number} ${title}`,
        href: `defects/${defect_id}`,
      })),
    ],
    values: found.length === 0 ? {} : valuesFrom(found),
  }
}

const priorities: Record<string, OrderValues['priority']> = {
  critical: 'urgent',
  major: 'high',
  high: 'high',
  warning: 'normal',
  medium: 'normal',
  info: 'low',
  low: 'low',
}
const order = ['urgent', 'high', 'normal', 'low'] as const

/** Common device of all, and the priority of the most severe. */
function valuesFrom(found: readonly (Alert | Defect)[]): Partial<OrderValues> {
  const agreed = <Name extends 'logger_id' | 'inverter_id' | 'string_index'>(name: Name) =>
    found.every((one) => one[name] === found[0]![name]) ? found[0]![name] : null
  const inverter_id = agreed('inverter_id')
  const known = found.map(({ severity }) => priorities[severity] ?? 'normal')
  const [first] = found
  const actions = found.map((one) => ('recommended_action' in one ? one.recommended_action : null))
  return {
    title: found.length === 1 ? first!.title : `${first!.title} and ${found.length - 1} more`,
    description: [...new Set(actions)].filter((action) => action !== null).join('\n'),
    priority: order.find((one) => known.includes(one)) ?? 'normal',
    logger_id: idText(agreed('logger_id')),
    inverter_id: idText(inverter_id),
    string_index: inverter_id === null ? '' : (agreed('string_index') ?? ''),
  }
}
