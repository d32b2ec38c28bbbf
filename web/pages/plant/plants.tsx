import { useOverview } from '../../queries.ts'
import { Page } from '../../ui/page.tsx'
import { PlantTable } from '../../ui/plant-table.tsx'
import { Answered } from '../../ui/states.tsx'
import type { SitePageProps } from '../pages.ts'

export default function Plants({ site_id }: SitePageProps) {
  const overview = useOverview(site_id)
  return (
    <Page title="Plants">
      <Answered query={overview}>
        {({ loggers }) => <PlantTable site_id={site_id} plants={loggers} />}
      </Answered>
    </Page>
  )
}
