import { useOverview } from '../../queries.ts'
import { InverterTable } from '../../ui/device-tables.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Page, SiteLink } from '../../ui/page.tsx'
import { Answered } from '../../ui/states.tsx'

export default function Inverters() {
  const overview = useOverview()
  const { plantName } = useDevices()
  return (
    <Page title="Inverters" actions={<SiteLink to="/explorer">Explorer</SiteLink>}>
      <Answered query={overview}>
        {({ inverters }) => <InverterTable inverters={inverters} plantName={plantName} />}
      </Answered>
    </Page>
  )
}
