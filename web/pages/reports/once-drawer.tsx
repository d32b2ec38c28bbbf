/** One report over any dates, without a subscription. */
import type { ReportTemplate } from '@heliograph/sdk'
import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { askPlatform } from '../../api.ts'
import { useSite } from '../../shell/site-shell.tsx'
import { DateField } from '../../ui/date-field.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Drawer } from '../../ui/modal.tsx'
import { Muted } from '../../ui/muted.tsx'
import { leadTo, Problem, withFields } from '../../ui/problem.tsx'
import { dayAt } from '../../ui/site-clock.ts'
import { addDays, isDate } from '../../ui/site-day.ts'
import { Loading } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'
import { WriteButton } from '../../ui/write-button.tsx'
import { useMarketZone } from '../earnings/reads.ts'
import { FormatField, PlantsField } from './order-fields.tsx'
import { Parameters } from './parameters.tsx'

interface OnceProps {
  site_id: string
  template: ReportTemplate
  onClose: () => void
  onOrdered: () => void
}

export function OnceDrawer({
  template,
  onClose,
  ...rest
}: Omit<OnceProps, 'template'> & { template: ReportTemplate | null }) {
  return (
    <Drawer
      opened={template !== null}
      onClose={onClose}
      title={`Create report: ${template?.name ?? ''}`}
      closeOnClickOutside={false}
    >
      {template && <InZone {...{ template, onClose, ...rest }} />}
    </Drawer>
  )
}

/** Earnings use market days, as the earnings page does. */
function InZone(props: OnceProps) {
  const site = useSite()
  const is_money = props.template.template_id === 'earnings'
  const zone = useMarketZone(site, is_money)
  if (is_money && zone === undefined) return <Loading />
  return <OnceForm {...props} timezone={is_money && zone ? zone : site.timezone} />
}

const week_days = 7

function OnceForm({
  site_id,
  template,
  timezone,
  onClose,
  onOrdered,
}: OnceProps & { timezone: string }) {
  const { plants } = useDevices(site_id)
  const yesterday = addDays(dayAt(Date.now(), timezone), -1)
  const form = useForm({
    initialValues: {
      start_date: addDays(yesterday, 1 - week_days),
      end_date: yesterday,
      format: template.formats[0] ?? 'pdf',
      logger_ids: [] as string[],
      parameters: {} as Record<string, unknown>,
    },
    validate: {
      start_date: (from, { end_date }) => {
        if (!isDate(from)) return 'Choose the first day.'
        return from > end_date ? 'The first day is after the last day.' : null
      },
      end_date: (to) => (isDate(to) && to <= yesterday ? null : 'Choose a day before today.'),
    },
  })
  const { run, is_pending, error } = useWrite({
    write: ({ logger_ids, ...values }: typeof form.values, idempotency_key) =>
      withFields(form, () =>
        askPlatform(
          'POST',
          '/report-runs',
          {
            site_id,
            template_id: template.template_id,
            timezone,
            ...values,
            logger_ids: logger_ids.length === 0 ? null : logger_ids.map(Number),
          },
          idempotency_key,
        ),
      ),
    done: 'Report is being created',
    changes: [['reports', site_id]],
    onDone: onOrdered,
  })
  return (
    <form onSubmit={form.onSubmit(run, leadTo(form))} noValidate>
      <Stack>
        <Text size="sm">{template.description}</Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <DateField label="From" max={yesterday} {...form.getInputProps('start_date')} />
          <DateField label="To (inclusive)" max={yesterday} {...form.getInputProps('end_date')} />
        </SimpleGrid>
        <Muted>{`Whole days in ${timezone}.`}</Muted>
        <FormatField formats={template.formats} {...form.getInputProps('format')} />
        <PlantsField
          has_choice={form.values.logger_ids.length > 0}
          data={plants}
          {...form.getInputProps('logger_ids')}
        />
        <Parameters
          {...{ template, given: form.values.parameters, errors: form.errors }}
          onChange={(parameters) => form.setFieldValue('parameters', parameters)}
        />
        <Problem error={error} />
        <Group>
          <WriteButton scope="reports:write" type="submit" loading={is_pending}>
            Create report
          </WriteButton>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
