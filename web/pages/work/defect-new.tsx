/** Form for a new defect. Links from strings and alerts fill in fields. */

import { Anchor, Group, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, useLocation } from 'wouter'
import { heliograph } from '../../api.ts'
import { useMay, useOverview } from '../../queries.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { useFormDraft } from '../../ui/draft.ts'
import { DraftNotice } from '../../ui/draft-notice.tsx'
import { Page } from '../../ui/page.tsx'
import { leadTo, Problem, withFields } from '../../ui/problem.tsx'
import { Section } from '../../ui/section.tsx'
import { Answered, NotAllowed } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useWrite } from '../../ui/use-write.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import type { SitePageProps } from '../pages.ts'
import { bodyOf, type DefectValues, noValues, rulesOf } from './defect/fields.ts'
import { HowItWasFound, WhatIsBroken } from './defect/form-parts.tsx'
import { givenOnly, idText } from './work-order/fields.ts'

export default function NewDefect({ site_id }: SitePageProps) {
  const filters = useFilters()
  const overview = useOverview(site_id)
  const inverter_id = filters.number('inverter_id') ?? null
  const is_allowed = useMay()('om:write')
  if (!is_allowed) {
    return (
      <Page title="Report a defect">
        <NotAllowed />
      </Page>
    )
  }
  return (
    <Page title="Report a defect">
      <Answered query={overview}>
        {({ inverters }) => {
          const inverter = inverters.find((one) => one.inverter_id === inverter_id)
          const given: Partial<DefectValues> = {
            title: filters.get('title') ?? '',
            logger_id: idText(inverter?.logger_id ?? filters.number('logger_id') ?? null),
            inverter_id: idText(inverter_id),
            string_index: filters.number('string_index') ?? '',
          }
          return <NewDefectForm {...{ site_id, given }} />
        }}
      </Answered>
    </Page>
  )
}

function NewDefectForm({ site_id, given }: { site_id: string; given: Partial<DefectValues> }) {
  const { timezone } = useSite()
  const filters = useFilters()
  const alert_id = filters.number('alert_id')
  const [, go] = useLocation()
  const form = useForm<DefectValues>({
    initialValues: { ...noValues, ...given },
    validate: rulesOf(timezone),
  })
  // The address identifies the subject.
  const draft = useFormDraft(location.search, form)
  const { run, is_pending, error } = useWrite({
    write: (values: DefectValues, idempotency_key) => {
      const given = givenOnly(bodyOf(values, timezone))
      const { title, severity } = values
      const alert_ids = alert_id === undefined ? [] : [alert_id]
      return withFields(form, () =>
        heliograph.defectCreate({
          site_id,
          ...given,
          title: title.trim(),
          severity,
          alert_ids,
          'Idempotency-Key': idempotency_key,
        }),
      )
    },
    changes: [
      ['defects', site_id],
      ['alerts', site_id],
    ],
    done: ({ number }) => `${number} reported`,
    onDone: ({ defect_id }) => {
      draft.drop()
      go(`/sites/${site_id}/defects/${defect_id}`, { replace: true })
    },
  })
  return (
    <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
      <Stack>
        <DraftNotice {...draft} />
        <Section title="Defect and location">
          <Stack>
            <WhatIsBroken {...{ site_id, form }} />
          </Stack>
        </Section>
        <Section title="Detection and cost">
          <Stack>
            <HowItWasFound form={form} />
          </Stack>
        </Section>
        <Problem error={error} />
        <Group>
          <WriteButton scope="om:write" type="submit" loading={is_pending}>
            Report defect
          </WriteButton>
          <Anchor component={Link} href={`/sites/${site_id}/defects`}>
            Back to the list
          </Anchor>
        </Group>
      </Stack>
    </form>
  )
}
