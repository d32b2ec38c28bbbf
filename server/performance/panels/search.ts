/** Searches panel models by parts of their names. */

import { cached } from '@heliograph/domain/cached'
import { nameKey, wordStarts, words } from './names.ts'

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

function otherNames(manufacturer: string): string[] {
  const key = nameKey(manufacturer)
  const found = byKey.filter((name) => key.startsWith(name.key)).flatMap(({ others }) => others)
  return [...new Set(found)].filter((other) => !key.startsWith(nameKey(other)))
}

export interface NamedModel {
  params_id: number
  name: string
  manufacturer: string
  /** Name without the manufacturer. */
  model: string
}

/** Names of all models in the order of equal matches: short names first, then by name. */
export type NameIndex = readonly IndexedName[]

interface IndexedName {
  params_id: number
  /** The name, and its variants with other names of the manufacturer, separated by blanks. */
  text: string
  /** `1` at the first character of each word of `text`. */
  starts: string
}

interface Found {
  /** Best matches first, at most `limit`. */
  params_ids: number[]
  count: number
}

/** Maximum length of a query; callers reject longer ones. */
export const query_characters_max = 200

/** Number of words, longest first, of a search for names with some of the words. */
const loose_words_max = 6

export function indexNames(models: readonly NamedModel[]): NameIndex {
  const makersOf = cached(otherNames)
  return models
    .map(({ params_id, name, manufacturer, model }) => {
      const names = [name, ...makersOf(manufacturer).map((maker) => `${maker} ${model}`)]
      const keys = names.map(nameKey)
      return {
        params_id,
        key: keys[0]!,
        text: keys.join(' '),
        starts: names.map(wordStarts).join(' '),
      }
    })
    .sort((a, b) => a.key.length - b.key.length || (a.key < b.key ? -1 : 1))
    .map(({ params_id, text, starts }) => ({ params_id, text, starts }))
}

/**
 * Models whose names contain every word of `query` (compared by `nameKey`), including other names
 * of the manufacturer. Order: most words at the start of a word of the name, then short names, then
 * by name. Without matches, units of power are removed from the query; then names with some of the
 * words match, weighted by the length and rarity of the words. There are no wildcards; a query
 * without a letter, digit, `+` or `%` finds nothing.
 */
export function searchNames(index: NameIndex, query: string, limit: number): Found {
  // The longest word is the rarest: most names are skipped at the first comparison.
  const wanted = words(query).sort((a, b) => b.length - a.length)
  if (wanted.length === 0) return { params_ids: [], count: 0 }
  const strict = withAll(index, wanted, limit)
  if (strict.count > 0) return strict
  const bare = withoutUnits(wanted)
  const unitless = bare.length === 0 ? strict : withAll(index, bare, limit)
  if (unitless.count > 0 || bare.length <= 1) return unitless
  return withSome(index, bare.slice(0, loose_words_max), limit)
}

/** Removes units of power (`550w`, `550 Wp`), which names do not contain. */
function withoutUnits(wanted: readonly string[]): string[] {
  const bare = wanted
    .filter((word) => !/^(wp?|watts?)$/.test(word))
    .map((word) => word.replace(/^(\d{2,4})(?:wp?|watts?)$/, '$1'))
  return [...new Set(bare)]
}

function withAll(index: NameIndex, wanted: readonly string[], limit: number): Found {
  /** Matches by number of words that do not start a word of the name. */
  const classes: number[][] = wanted.map(() => [])
  classes.push([])
  let count = 0
  for (const name of index) {
    if (!wanted.every((word) => name.text.includes(word))) continue
    count += 1
    if (classes[0]!.length >= limit) continue
    const inside = wanted.filter((word) => !beginsWord(name, word)).length
    if (classes[inside]!.length < limit) classes[inside]!.push(name.params_id)
  }
  return { params_ids: classes.flat().slice(0, limit), count }
}

function withSome(index: NameIndex, wanted: readonly string[], limit: number): Found {
  /** Matches by bit mask of the words that they contain. */
  const groups = new Map<number, { count: number; params_ids: number[] }>()
  for (const { params_id, text } of index) {
    let has = 0
    for (let nth = 0; nth < wanted.length; nth += 1)
      if (text.includes(wanted[nth]!)) has |= 1 << nth
    if (has === 0) continue
    const group = groups.get(has)
    if (!group) groups.set(has, { count: 1, params_ids: [params_id] })
    else if (group.count++ < limit) group.params_ids.push(params_id)
  }
  const weights = wanted.map((word, nth) => {
    const having = [...groups].filter(([has]) => (has >> nth) & 1)
    const frequency = having.reduce((sum, [, { count }]) => sum + count, 0)
    return frequency === 0 ? 0 : word.length * Math.log(index.length / frequency)
  })
  const weightOf = (has: number) =>
    weights.reduce((sum, weight, nth) => sum + ((has >> nth) & 1 ? weight : 0), 0)
  const best = [...groups].sort(([a], [b]) => weightOf(b) - weightOf(a) || a - b)
  return {
    params_ids: best.flatMap(([, { params_ids }]) => params_ids).slice(0, limit),
    count: best.reduce((sum, [, { count }]) => sum + count, 0),
  }
}

function beginsWord({ text, starts }: IndexedName, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (starts[at] === '1') return true
  }
  return false
}
