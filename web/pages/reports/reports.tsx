/** Reports: files to download, subscriptions, and the catalogue of templates. */

import type { ReportTemplate } from '@heliograph/sdk'
import { SimpleGrid, Tabs } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../../queries.ts'
import { Figure } from '../../ui/figure.tsx'
import { Page } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import type { SitePageProps } from '../pages.ts'
import { Catalogue } from './catalogue.tsx'
import { OnceDrawer } from './once-drawer.tsx'
import { RunList } from './run-list.tsx'
import { type Edited, SubscriptionDrawer } from './subscription-drawer.tsx'
import { SubscriptionList } from './subscription-list.tsx'

export default function Reports({ site_id }: SitePageProps) {
  const { get, set } = useFilters()
  const [edited, setEdited] = useState<Edited | null>(null)
  const [once, setOnce] = useState<ReportTemplate | null>(null)
  const catalogue = useRead('report-catalog', 'reportsCatalog', { site_id }, { staleTime: 600_000 })
  const templates = catalogue.data?.data ?? []
  return (
    <Page title="Reports">
      <Glance site_id={site_id} />
      <Tabs
        value={get('tab') ?? 'runs'}
        onChange={(tab) => set({ tab: tab === 'runs' ? null : tab })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="runs">Reports</Tabs.Tab>
          <Tabs.Tab value="subscriptions">Subscriptions</Tabs.Tab>
          <Tabs.Tab value="catalogue">Catalogue</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="runs">
          <RunList {...{ site_id, templates }} onCreate={() => set({ tab: 'catalogue' })} />
        </Tabs.Panel>
        <Tabs.Panel value="subscriptions">
          <SubscriptionList
            {...{ site_id, templates }}
            onEdit={(subscription) =>
              setEdited({
                subscription,
                template: templates.find((one) => one.template_id === subscription.template_id),
              })
            }
          />
        </Tabs.Panel>
        <Tabs.Panel value="catalogue">
          <Answered query={catalogue}>
            {({ data }) => (
              <Catalogue
                templates={data}
                onOnce={setOnce}
                onSubscribe={(template) => setEdited({ subscription: null, template })}
              />
            )}
          </Answered>
        </Tabs.Panel>
      </Tabs>
      <OnceDrawer
        {...{ site_id, template: once }}
        onClose={() => setOnce(null)}
        onOrdered={() => {
          setOnce(null)
          set({ tab: null })
        }}
      />
      <SubscriptionDrawer
        {...{ site_id, edited }}
        onClose={() => setEdited(null)}
        onSaved={() => {
          setEdited(null)
          set({ tab: 'subscriptions' })
        }}
      />
    </Page>
  )
}

function Glance({ site_id }: { site_id: string }) {
  const { data } = useRead('reports', 'reportsOverview', { site_id }, 60_000)
  if (!data) return null
  const failed = data.runs_failed_last_30d
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
      <Figure label="Requested, 30 days" value={data.runs_last_30d} />
      <Figure label="Failed, 30 days" value={failed} {...(failed > 0 && { tone: 'bad' })} />
      <Figure label="Subscriptions" value={data.subscriptions_active} note="enabled" />
      <Figure label="Next report" value={<Time at={data.next_run_at} />} />
    </SimpleGrid>
  )
}
