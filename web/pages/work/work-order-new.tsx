import type { Alert, Defect } from '@heliograph/sdk'
import { List, Select, Stack, Text } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { heliograph } from '../../api.ts'
import { useMay, useRead, useSite } from '../../queries.ts'
import { useFormDraft } from '../../ui/draft.ts'
import { SubmitForm, withFields } from '../../ui/form.tsx'
import { Page, Section, SiteLink } from '../../ui/page.tsx'
import { NotAllowed } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useWrite } from '../../ui/use-write.ts'
import { bodyOf, givenOnly, idText } from './form-values.ts'
import { noValues, type OrderValues, order_fields, rulesOf } from './work-order/fields.ts'
import { type OrderFormProps, WhatAndWhere, WhoAndWhen } from './work-order/form-parts.tsx'
import { order_changes } from './work-order/subject.ts'

interface NewValues extends OrderValues {
  category_id: string | null
}

export default function NewWorkOrder() {
  const is_allowed = useMay()('om:write')
  const filters = useFilters()
  const origin = useOrigin(idsOf(filters.get('alert_ids')), idsOf(filters.get('defect_ids')))
  return (
    <Page title="New work order">
      {/* Resets the form once alerts and defects are loaded. */}
      {is_allowed ? (
        <NewOrder key={origin.is_known ? 'known' : 'asked'} origin={origin} />
      ) : (
        <NotAllowed />
      )}
    </Page>
  )
}

const idsOf = (text: string | null) =>
  (text ?? '')
    .split(',')
    .filter((id) => /^\d+$/.test(id))
    .map(Number)

function NewOrder({ origin }: { origin: ReturnType<typeof useOrigin> }) {
  const { site_id, timezone } = useSite()
  const [, go] = useLocation()
  const { alert_ids, defect_ids, about } = origin
  const form = useForm<NewValues>({
    initialValues: { ...noValues, category_id: null, ...origin.values },
    validate: rulesOf(timezone),
  })
  // The address identifies alerts and defects.
  const draft = useFormDraft(location.search, form)
  const create = useWrite({
    write: ({ category_id, ...values }: NewValues, key) => {
      const given = givenOnly({
        ...bodyOf(order_fields, values, timezone),
        category_id: category_id === null ? null : Number(category_id),
        alert_ids,
        defect_ids,
      })
      const title = values.title.trim()
      return withFields(form, () =>
        heliograph.workOrderCreate({ site_id, ...given, title, 'Idempotency-Key': key }),
      )
    },
    changes: order_changes,
    done: ({ number }) => `${number} created`,
    draft,
    onDone: ({ wo_id }) => go(`/sites/${site_id}/work-orders/${wo_id}`, { replace: true }),
  })
  const part = { form: form as unknown as OrderFormProps['form'] }
  return (
    <SubmitForm
      form={form}
      draft={draft}
      write={create}
      scope="om:write"
      action="Create work order"
      aside={<SiteLink to="/work-orders">Back to the list</SiteLink>}
    >
      {about.length > 0 && (
        <Section title="Created from">
          <List size="sm">
            {about.map(({ text, to }) => (
              <List.Item key={to}>
                <SiteLink to={to} size="sm">
                  {text}
                </SiteLink>
              </List.Item>
            ))}
          </List>
        </Section>
      )}
      <Section title="Task and location">
        <Stack>
          <WhatAndWhere {...part} />
          <Category form={form} />
        </Stack>
      </Section>
      <Section title="Assignment and schedule">
        <Stack>
          <WhoAndWhen {...part} />
        </Stack>
      </Section>
    </SubmitForm>
  )
}

/** Chooses the category whose checklist is copied to the order. */
function Category({ form }: { form: UseFormReturnType<NewValues> }) {
  const { data } = useRead('om-categories', 'omCategoriesList', {}, { staleTime: 600_000 })
  const categories = (data?.data ?? []).filter(({ is_active }) => is_active)
  const chosen = categories.find((one) => String(one.category_id) === form.values.category_id)
  return (
    <div>
      <Select
        label="Checklist"
        placeholder="None"
        clearable
        searchable
        clearButtonProps={{ 'aria-label': 'No checklist' }}
        data={categories.map(({ category_id, name, standard_reference }) => ({
          value: String(category_id),
          label: standard_reference ? `${name} (${standard_reference})` : name,
        }))}
        {...form.getInputProps('category_id')}
      />
      {chosen && (
        <Text size="sm" mt={4}>
          {chosen.default_checklist.length} items. {chosen.description}
        </Text>
      )}
    </div>
  )
}

/** Alerts or defects that the order is created from, and form values derived from them. */
function useOrigin(alert_ids: number[], defect_ids: number[]) {
  const { site_id } = useSite()
  const { data: alerts } = useQuery({
    queryKey: ['origin-alerts', site_id, alert_ids],
    enabled: alert_ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const status: Alert['status'][] = ['active', 'acknowledged', 'resolved']
      const { data } = await heliograph.alertsList({ site_id, status }, { signal })
      return data.filter(({ alert_id }) => alert_ids.includes(alert_id))
    },
  })
  const { data: defects } = useQuery({
    queryKey: ['origin-defects', site_id, defect_ids],
    enabled: defect_ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      Promise.all(
        defect_ids.map((defect_id) => heliograph.defectGet({ site_id, defect_id }, { signal })),
      ),
  })
  const about = [
    ...(alerts ?? []).map(({ alert_id, title, message }) => ({
      text: `${title}: ${message}`,
      to: `/alerts?alert_id=${alert_id}`,
    })),
    ...(defects ?? []).map(({ defect_id, number, title }) => ({
      text: `${number} ${title}`,
      to: `/defects/${defect_id}`,
    })),
  ]
  return {
    is_known: (alert_ids.length === 0 || !!alerts) && (defect_ids.length === 0 || !!defects),
    alert_ids,
    defect_ids,
    about,
    values: valuesFrom([...(alerts ?? []), ...(defects ?? [])]),
  }
}

const ranks = ['urgent', 'high', 'normal', 'low'] as const

const priorities: Record<string, (typeof ranks)[number]> = {
  critical: 'urgent',
  major: 'high',
  high: 'high',
  info: 'low',
  low: 'low',
}

/** Common device of all, and the priority of the most severe. */
function valuesFrom(found: readonly (Alert | Defect)[]): Partial<OrderValues> {
  const [first] = found
  if (!first) return {}
  const agreed = (name: 'logger_id' | 'inverter_id' | 'string_index') =>
    found.every((one) => one[name] === first[name]) ? first[name] : null
  const inverter_id = agreed('inverter_id')
  const known = found.map(({ severity }) => priorities[severity] ?? 'normal')
  const actions = found.map((one) => ('recommended_action' in one ? one.recommended_action : null))
  return {
    title: found.length === 1 ? first.title : `${first.title} and ${found.length - 1} more`,
    description: [...new Set(actions)].filter((action) => action !== null).join('\n'),
    priority: ranks.find((one) => known.includes(one)) ?? 'normal',
    logger_id: idText(agreed('logger_id')),
    inverter_id: idText(inverter_id),
    string_index: inverter_id === null ? '' : (agreed('string_index') ?? ''),
  }
}
