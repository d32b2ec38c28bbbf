/** Form for a new defect. Links from strings and alerts fill in fields. */
import { Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLocation } from 'wouter'
import { heliograph } from '../../api.ts'
import { useMay, useOverview, useSite } from '../../queries.ts'
import { useFormDraft } from '../../ui/draft.ts'
import { SubmitForm, withFields } from '../../ui/form.tsx'
import { Page, Section, SiteLink } from '../../ui/page.tsx'
import { Answered, NotAllowed } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { useWrite } from '../../ui/use-write.ts'
import { type DefectValues, defectBody, noValues, rulesOf } from './defect/fields.ts'
import { HowItWasFound, WhatIsBroken } from './defect/form-parts.tsx'
import { givenOnly, idText } from './form-values.ts'

export default function NewDefect() {
  const filters = useFilters()
  const overview = useOverview()
  const inverter_id = filters.number('inverter_id') ?? null
  const is_allowed = useMay()('om:write')
  return (
    <Page title="Report a defect">
      {is_allowed ? (
        <Answered query={overview}>
          {({ inverters }) => {
            const inverter = inverters.find((one) => one.inverter_id === inverter_id)
            const given: Partial<DefectValues> = {
              title: filters.get('title') ?? '',
              logger_id: idText(inverter?.logger_id ?? filters.number('logger_id') ?? null),
              inverter_id: idText(inverter_id),
              string_index: filters.number('string_index') ?? '',
            }
            return <NewDefectForm given={given} />
          }}
        </Answered>
      ) : (
        <NotAllowed />
      )}
    </Page>
  )
}

function NewDefectForm({ given }: { given: Partial<DefectValues> }) {
  const { site_id, timezone } = useSite()
  const alert_id = useFilters().number('alert_id')
  const [, go] = useLocation()
  const form = useForm<DefectValues>({
    initialValues: { ...noValues, ...given },
    validate: rulesOf(timezone),
  })
  // The address identifies the subject.
  const draft = useFormDraft(location.search, form)
  const report = useWrite({
    write: (values: DefectValues, key) => {
      const body = {
        ...givenOnly(defectBody(values, timezone)),
        title: values.title.trim(),
        severity: values.severity,
        alert_ids: alert_id === undefined ? [] : [alert_id],
      }
      return withFields(form, () =>
        heliograph.defectCreate({ site_id, ...body, 'Idempotency-Key': key }),
      )
    },
    changes: ['defects', 'alerts'],
    done: ({ number }) => `${number} reported`,
    draft,
    onDone: ({ defect_id }) => go(`/sites/${site_id}/defects/${defect_id}`, { replace: true }),
  })
  return (
    <SubmitForm
      form={form}
      draft={draft}
      write={report}
      scope="om:write"
      action="Report defect"
      aside={<SiteLink to="/defects">Back to the list</SiteLink>}
    >
      <Section title="Defect and location">
        <Stack>
          <WhatIsBroken form={form} />
        </Stack>
      </Section>
      <Section title="Detection and cost">
        <Stack>
          <HowItWasFound form={form} />
        </Stack>
      </Section>
    </SubmitForm>
  )
}
