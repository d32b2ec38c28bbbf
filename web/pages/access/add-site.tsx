import { Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLocation } from 'wouter'
import { askPlatform, heliograph } from '../../api.ts'
import { SubmitForm, withFields } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { useWrite } from '../../ui/use-write.ts'

interface NewSite {
  name: string
  site_id: string
}

const id_characters_max = 64
const site_id_pattern = /^[a-z0-9][a-z0-9_-]*$/

/** An id that a name suggests: `North field` is `north-field`. */
const idOf = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, id_characters_max)

/** The list of sites, which the pages of a site need, is at most five seconds old. */
const listed_ms_max = 6000
const look_ms = 500

async function untilListed(site_id: string): Promise<void> {
  for (let waited_ms = 0; waited_ms < listed_ms_max; waited_ms += look_ms) {
    const { data } = await heliograph.sitesList({}, {})
    if (data.some((site) => site.site_id === site_id)) return
    await new Promise((resolve) => setTimeout(resolve, look_ms))
  }
}

export default function AddSite() {
  const [, go] = useLocation()
  const form = useForm<NewSite>({
    initialValues: { name: '', site_id: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter the name of the site.' : null),
      site_id: (id) =>
        site_id_pattern.test(id)
          ? null
          : 'Use lower-case letters, digits, - and _. Begin with a letter or digit.',
    },
  })
  const add = useWrite({
    write: async ({ name, site_id }: NewSite) => {
      const order = { name: name.trim(), site_id }
      await withFields(form, () => askPlatform('POST', '/sites', order))
      await untilListed(site_id)
      return order
    },
    done: 'Site added',
    changes: ['sites'],
    onDone: ({ site_id }) => go(`/sites/${site_id}/edge`),
  })
  const rename = (name: string) => {
    const { name: before, site_id } = form.getValues()
    if (site_id === idOf(before)) form.setFieldValue('site_id', idOf(name))
    form.setFieldValue('name', name)
  }
  return (
    <Page title="Add a site">
      <Text c="dimmed" maw={640}>
        Position, time zone and devices come from the file site.yaml on the gateway, and markets
        from the contracts of the site. A new site is in commissioning safe mode.
      </Text>
      <SubmitForm form={form} write={add} action="Add site" maw={480}>
        <TextInput
          label="Name"
          maxLength={100}
          autoComplete="off"
          {...form.getInputProps('name')}
          onChange={(event) => rename(event.currentTarget.value)}
        />
        <TextInput
          label="Site ID"
          description="The same as in site.yaml. It cannot be changed later."
          maxLength={id_characters_max}
          autoComplete="off"
          {...form.getInputProps('site_id')}
        />
      </SubmitForm>
    </Page>
  )
}
