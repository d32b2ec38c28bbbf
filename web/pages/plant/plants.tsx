import { useOverview } from '../../queries.ts'
import { PlantTable } from '../../ui/device-tables.tsx'
import { Page } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'

export default function Plants() {
  const overview = useOverview()
  return (
    <Page title="Plants">
      <Answered query={overview}>{({ loggers }) => <PlantTable plants={loggers} />}</Answered>
    </Page>
  )
}
