/** Panel manufacturers with several names. */
import { nameKey } from './names.ts'

/**
 * Names of a manufacturer: names in lists, former names and brands. A name applies to every
 * manufacturer of a list whose name starts with it.
 */
const makers: readonly (readonly string[])[] = [
  ['CSI Solar', 'Canadian Solar'],
  ['Hanwha Q CELLS', 'Qcells', 'Q CELLS'],
  ['LONGi Green Energy Technology', 'LONGi Solar', 'LONGi'],
  ['JA Solar', 'JA Solar Technology', 'Jingao'],
  ['Jinko Solar', 'JinkoSolar Holding'],
  ['Trina Solar', 'Changzhou Trina Solar Energy'],
  ['Maxeon Solar Technologies', 'Maxeon', 'SunPower Maxeon'],
  ['SunPower', 'Maxeon'],
  ['REC Solar', 'REC Group', 'Renewable Energy Corporation'],
  ['Risen Energy', 'Risen Solar'],
  ['Chint Solar', 'Chint New Energy Technology', 'Astronergy', 'Astronergy Solar'],
  ['United Renewable Energy', 'URE', 'Neo Solar Power', 'NSP'],
  ['Vietnam Sunergy', 'VSUN Solar', 'VSUN'],
  ['Shanghai Aerospace Automobile Electromechanical', 'HT-SAAE', 'HT Solar'],
  ['Hengdian Group DMEGC Magnetics', 'DMEGC Solar'],
  ['Suzhou Talesun Solar Technologies', 'Talesun Solar', 'Zhongli Talesun'],
  ['Changzhou Eging Photovoltaic Technology', 'EGing PV', 'EGing'],
  ['Wuxi Suntech Power', 'Suntech Power', 'Suntech'],
  ['Yingli Energy', 'Yingli Green Energy', 'Yingli Solar'],
  ['SANYO ELECTRIC CO LTD OF PANASONIC GROUP', 'Panasonic', 'Sanyo', 'Panasonic HIT'],
  ['Panasonic Corporation of North America', 'Panasonic Solar'],
  ['HYUNDAI ENERGY SOLUTIONS', 'Hyundai Solar', 'Hyundai Heavy Industries'],
  ['GCL System Integration Technology', 'GCL-SI', 'GCL Solar'],
  ['Phono Solar Technology', 'Sumec Phono Solar', 'Sumec'],
  ['Tongwei Solar', 'TW Solar'],
  ['Mundra Solar PV', 'Adani Solar'],
  ['Jiangsu Runergy New Energy Technology', 'Runergy'],
  ['China Sunergy', 'CSUN'],
  ['Jiangyin Hareon Power', 'Hareon Solar'],
  ['Renesola America', 'ReneSola'],
  ['Seraphim Solar System', 'Seraphim Energy Group', 'Seraphim Solar'],
  ['AU Optronics', 'AUO', 'BenQ Solar'],
  ['WAAREE ENERGIES', 'Waaree Solar'],
  ['BYD Company', 'BYD Solar'],
  ['SunSpark Technology', 'SunSpark Solar'],
  ['EMMVEE Photovoltaic Power', 'Emmvee Solar'],
  ['Xian Huanghe Photovoltaic Technology', 'Huanghe Solar'],
  ['Tangshan Haitai New Energy Technology', 'Haitai Solar'],
  ['Zhejiang Sunflower Light Energy Science & Technology', 'Sunowe'],
]

const byKey = makers.flatMap((names) =>
  names.map((name) => ({ key: nameKey(name), others: names.filter((other) => other !== name) })),
)

/** Other names of a manufacturer. */
export function otherNames(manufacturer: string): string[] {
  const key = nameKey(manufacturer)
  const found = byKey.filter((name) => key.startsWith(name.key)).flatMap(({ others }) => others)
  return [...new Set(found)].filter((other) => !key.startsWith(nameKey(other)))
}
