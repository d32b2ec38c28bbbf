/** Every page of the platform with an address that shows it, taken from the pages' own table. */
import { ask, type Window } from './browser.ts'

export interface PageAddress {
  /** As it stands in the table. */
  pattern: string
  address: string
}

interface PageTable {
  openPages: { path: string }[]
  adminPages: { path: string }[]
  sitePages: { path: string }[]
}

export const site_id = 'demo'

/** Read when it is asked for: the table is code of the browser. */
const readTable = async (): Promise<PageTable> =>
  await import(new URL('../../web/pages/pages.ts', import.meta.url).href)

/** Of an administrator's window: what pages are about and is not there yet is made. */
export async function everyPage(window: Window, invitation: string): Promise<PageAddress[]> {
  const { openPages, adminPages, sitePages } = await readTable()
  const ids: Record<string, string | number> = {
    site_id,
    logger_id: 1,
    inverter_id: 1,
    string_index: 3,
    string_id: 3,
    bess_id: 1,
    node_id: 'ts-south',
    wo_id: await newWorkOrder(window),
    defect_id: await newDefect(window),
  }
  const fill = (pattern: string) =>
    pattern.replaceAll(/:(\w+)\??/g, (_, name: string) => {
      if (!(name in ids)) throw new Error(`${pattern}: addresses.ts knows no ${name}`)
      return String(ids[name])
    })
  const above = [...openPages, ...adminPages].map(({ path }) => ({
    pattern: path,
    address: path === '/invitation' ? invitation : fill(path),
  }))
  const ofSite = sitePages.map(({ path }) => ({
    pattern: `/sites/:site_id${path}`,
    address: fill(`/sites/:site_id${path}`),
  }))
  return [...above, ...ofSite]
}

interface Category {
  category_id: number
  is_active: boolean
  default_checklist: { type: string; required: boolean }[]
}

/** With the shortest checklist that has something to measure. */
export async function newWorkOrder(window: Window): Promise<number> {
  const { data } = await ask<{ data: Category[] }>(window, `/v1/sites/${site_id}/om/categories`)
  const [category] = data
    .filter(({ is_active, default_checklist }) => is_active && default_checklist.length > 0)
    .toSorted((one, other) => one.default_checklist.length - other.default_checklist.length)
  const body = {
    title: 'Look after string 3 of inverter 1',
    inverter_id: 1,
    string_index: 3,
    ...(category && { category_id: category.category_id }),
  }
  const asked = { method: 'POST', body } as const
  return (await ask<{ wo_id: number }>(window, `/v1/sites/${site_id}/work-orders`, asked)).wo_id
}

async function newDefect(window: Window): Promise<number> {
  const body = {
    title: 'Cracked glass',
    type: 'other',
    severity: 'low',
    inverter_id: 1,
    string_index: 3,
  }
  const asked = { method: 'POST', body } as const
  return (await ask<{ defect_id: number }>(window, `/v1/sites/${site_id}/defects`, asked)).defect_id
}
