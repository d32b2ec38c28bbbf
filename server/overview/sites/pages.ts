/** Pages of the list of sites: which sites, in which order, and after which. */
import { type Paged, pageOf } from '../../http/cursor.ts'
import { oncePer } from '../../http/on-first-use.ts'

export const page_size_max = 200

export const siteOrders = ['site_id', '-site_id', 'name', '-name'] as const

export interface SitesPage {
  q?: string
  sort?: (typeof siteOrders)[number]
  limit?: number
  /** The last site of the page before; null: this is the first page. */
  after: Named | null
}

interface Named {
  site_id: string
  name: string
}

/** A page of these sites, which are by `site_id`, and the sites of all pages. */
export function pageOfSites<Of extends Named>(
  sites: readonly Of[],
  { q = '', sort = 'site_id', limit = page_size_max, after }: SitesPage,
  isVisible: (site: Of) => boolean = () => true,
): { page: Paged<Of>; matching: readonly Of[] } {
  const ordered = sort.endsWith('name') ? inOrderOfName(sites) : sites
  const wanted = q.toLowerCase()
  const has = (text: string) => text.toLowerCase().includes(wanted)
  const matching = ordered.filter(
    (site) => isVisible(site) && (wanted === '' || has(site.site_id) || has(site.name)),
  )
  if (sort.startsWith('-')) matching.reverse()
  const compare = comparison(sort)
  const left = after ? matching.filter((site) => compare(site, after) > 0) : matching
  const placeOf = ({ site_id, name }: Of) => ({ site_id, name })
  return { page: pageOf(left, limit, placeOf), matching }
}

/** The sites of a snapshot are sorted once: comparing a thousand names takes ten milliseconds. */
const inOrderOfName = oncePer(<Of extends Named>(sites: readonly Of[]) =>
  sites.toSorted(comparison('name')),
)

const names = new Intl.Collator('en', { numeric: true })

function comparison(sort: string): (a: Named, b: Named) => number {
  const byId = (a: Named, b: Named) => Number(a.site_id > b.site_id) - Number(a.site_id < b.site_id)
  const byName = (a: Named, b: Named) => names.compare(a.name, b.name) || byId(a, b)
  const compare = sort.endsWith('name') ? byName : byId
  return sort.startsWith('-') ? (a, b) => compare(b, a) : compare
}
