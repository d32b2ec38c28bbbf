/** The devices of a site by name, with their addresses. */
import { type Battery, clusterUnits, type Pcs } from '@heliograph/domain/battery'
import type { Combiner, Inverter, Logger, Meter, Site, Station } from '@heliograph/domain/site'
import type { DeviceKind } from './found-device.ts'

interface Named<Kind extends DeviceKind, Device> {
  kind: Kind
  name: string
  connection: string
  unit_id: number
  driver: string
  device: Device
}

export type SiteDevice =
  | Named<'controller', Logger>
  | Named<'inverter', Inverter>
  | Named<'combiner', Combiner>
  | Named<'station', Station>
  | Named<'meter', Meter>
  | Named<'battery', Battery>
  | Named<'pcs', Pcs>

export function devicesOf({ loggers, meters = [], batteries = [] }: Site): SiteDevice[] {
  return [
    ...loggers.flatMap((logger): SiteDevice[] => {
      const { controller, name, inverters, stations = [] } = logger
      return [
        ...(controller ? [named('controller', `Controller of ${name}`, controller, logger)] : []),
        ...inverters.flatMap((one) => [
          named('inverter', one.name, one, one),
          ...(one.combiners ?? []).map((box) => named('combiner', box.combiner_id, box, box)),
        ]),
        ...stations.map((one) => named('station', one.name, one, one)),
      ]
    }),
    ...meters.map((one) => named('meter', one.name, one, one)),
    ...batteries.flatMap((one): SiteDevice[] => [
      named('battery', one.name, one.bms, one),
      ...one.pcs.map((pcs) => named('pcs', `PCS ${pcs.pcs_idx} of ${one.name}`, pcs, pcs)),
    ]),
  ]
}

function named<Kind extends DeviceKind, Device>(
  kind: Kind,
  name: string,
  { connection, unit_id, driver }: { connection: string; unit_id: number; driver: string },
  device: Device,
): Named<Kind, Device> {
  return { kind, name, connection, unit_id, driver, device }
}

/** Whether the site has a device at this address. */
export function hasUnit(site: Site, { connection, unit_id }: Address): boolean {
  const clusters = (site.batteries ?? []).flatMap(clusterUnits)
  return [...devicesOf(site), ...clusters].some(
    (one) => one.connection === connection && one.unit_id === unit_id,
  )
}

type Address = Pick<SiteDevice, 'connection' | 'unit_id'>
