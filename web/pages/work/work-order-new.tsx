/** Form for a new work order, optionally from alerts or defects. */

import { Anchor, Group, List, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, useLocation } from 'wouter'
import { heliograph } from '../../api.ts'
import { useMay } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { useFormDraft } from '../../ui/draft.ts'
import { DraftNotice } from '../../ui/draft-notice.tsx'
import { Page } from '../../ui/page.tsx'
import { leadTo, Problem, withFields } from '../../ui/problem.tsx'
import { Section } from '../../ui/section.tsx'
import { NotAllowed } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useWrite } from '../../ui/use-write.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import type { SitePageProps } from '../pages.ts'
import { Category } from './work-order/category.tsx'
import { bodyOf, givenOnly, noValues, type OrderValues, rulesOf } from './work-order/fields.ts'
import { type OrderForm, WhatAndWhere, WhoAndWhen } from './work-order/form-parts.tsx'
import { orderChanges } from './work-order/use-order.ts'
import { type Origin, useOrigin } from './work-order/use-origin.ts'

interface NewValues extends OrderValues {
  category_id: string | null
}

export default function NewWorkOrder({ site_id }: SitePageProps) {
  const is_allowed = useMay()('om:write')
  const filters = useFilters()
  const origin = useOrigin(
    site_id,
    idsOf(filters.get('alert_ids')),
    idsOf(filters.get('defect_ids')),
  )
  return (
    <Page title="New work order">
      {/* Resets the form once alerts and defects are loaded. */}
      {is_allowed ? (
        <NewOrder key={origin.is_known ? 'known' : 'asked'} {...{ site_id, origin }} />
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

function NewOrder({ site_id, origin }: { site_id: string; origin: Origin }) {
  const { timezone } = useSite()
  const [, go] = useLocation()
  const { alert_ids, defect_ids } = origin
  const form = useForm<NewValues>({
    initialValues: { ...noValues, category_id: null, ...origin.values },
    validate: rulesOf(timezone),
  })
  // The address identifies alerts and defects.
  const draft = useFormDraft(location.search, form)
  const { run, is_pending, error } = useWrite({
    write: (values: NewValues, idempotency_key) => {
      const category_id = values.category_id === null ? null : Number(values.category_id)
      const given = givenOnly({ ...bodyOf(values, timezone), category_id, alert_ids, defect_ids })
      return withFields(form, () =>
        heliograph.workOrderCreate({
          site_id,
          ...given,
          title: values.title.trim(),
          'Idempotency-Key': idempotency_key,
        }),
      )
    },
    changes: orderChanges(site_id),
    done: ({ number }) => `${number} created`,
    onDone: ({ wo_id }) => {
      draft.drop()
      go(`/sites/${site_id}/work-orders/${wo_id}`, { replace: true })
    },
  })
  return (
    <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
      <Stack>
        <DraftNotice {...draft} />
        {origin.about.length > 0 && <About {...{ site_id, origin }} />}
        <Section title="Task and location">
          <Stack>
            <WhatAndWhere {...{ site_id, form: form as unknown as OrderForm }} />
            <Category {...{ site_id, ...form.getInputProps('category_id') }} />
          </Stack>
        </Section>
        <Section title="Assignment and schedule">
          <Stack>
            <WhoAndWhen form={form as unknown as OrderForm} />
          </Stack>
        </Section>
        <Problem error={error} />
        <Group>
          <WriteButton scope="om:write" type="submit" loading={is_pending}>
            Create work order
          </WriteButton>
          <Anchor component={Link} href={`/sites/${site_id}/work-orders`}>
            Back to the list
          </Anchor>
        </Group>
      </Stack>
    </form>
  )
}

function About({ site_id, origin }: { site_id: string; origin: Origin }) {
  return (
    <Section title="Created from">
      <List size="sm">
        {origin.about.map(({ text, href }) => (
          <List.Item key={href}>
            <Anchor component={Link} href={`/sites/${site_id}/${href}`} size="sm">
              {text}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </Section>
  )
}
