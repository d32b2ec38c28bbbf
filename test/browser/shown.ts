/** Reads numbers and tables from a page as a person does, without the code that wrote them. */
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { site_id } from './addresses.ts'

/** Base units that the API counts in, for units that pages show large values in. */
const factors: Readonly<Record<string, number>> = { MWh: 1000, MW: 1000 }

/** An amount has its currency before the digits: `-€1,234.50`. */
const number = /(-?)[^\d\s-]?([\d,]*\d(?:\.(\d+))?)(?:\s?([A-Za-z]+))?/

/** The first number of the text is the value, rounded to the digits that it has; null is a dash. */
export function assertShows(text: string, value: number | null, name: string): void {
  const told = `${name}: the page shows "${text}", the API says ${value}`
  if (value === null) {
    assert.match(text, /^–/, told)
    return
  }
  const [, sign, digits = '', decimals = '', unit = ''] = number.exec(text) ?? []
  const factor = factors[unit] ?? 1
  const shown = Number(`${sign}${digits.replaceAll(',', '')}`) * factor
  const half_step = 0.5 * factor * 10 ** -decimals.length
  assert.ok(digits !== '' && Math.abs(shown - value) <= half_step * (1 + 1e-6), told)
}

/** The value below a name: of a figure, or of a fact. */
export const below = (within: Page | Locator, name: string) =>
  within
    .getByText(name, { exact: true })
    .and(within.locator('p, dt'))
    .locator('xpath=following-sibling::*[1]')
    .first()

/** Several figures by their names. */
export async function assertFigures(
  page: Page,
  figures: Readonly<Record<string, number | null>>,
): Promise<void> {
  for (const [name, value] of Object.entries(figures)) {
    assertShows(await below(page.getByRole('main'), name).innerText(), value, name)
  }
}

export type ShownRow = Readonly<Record<string, string>>

/** The rows of a table, each cell by the heading of its column. */
export async function rowsOf(page: Page, label: string): Promise<ShownRow[]> {
  const table = page.getByRole('region', { name: label, exact: true })
  await table.waitFor()
  const [head = '', ...rows] = await table.getByRole('row').allInnerTexts()
  const names = head.split('\t').map((name) => name.trim())
  return rows.map((row) => {
    const cells = row.split('\t')
    return Object.fromEntries(names.map((name, nth) => [name, cells[nth]?.trim() ?? '']))
  })
}

export interface Answer<Body> {
  query: URLSearchParams
  body: Body
}

/** What a page is answered next to a read below the site, and what it asked for. */
export async function nextAnswer<Body>(
  page: Page,
  path: string,
  asked: Readonly<Record<string, string>> = {},
): Promise<Answer<Body>> {
  const response = await page.waitForResponse((one) => {
    const { pathname, searchParams } = new URL(one.url())
    if (pathname !== `/v1/sites/${site_id}${path}` || !one.ok()) return false
    return Object.entries(asked).every(([name, value]) => searchParams.get(name) === value)
  })
  return { query: new URL(response.url()).searchParams, body: (await response.json()) as Body }
}

const timezone = 'Europe/Berlin'
const clock = new Intl.DateTimeFormat('sv-SE', {
  timeZone: timezone,
  dateStyle: 'short',
  timeStyle: 'medium',
})

/** The clocks of the demo site: `2026-11-27 00:00:00`. */
export const siteClock = (at: string | number | null) => clock.format(new Date(at ?? Number.NaN))

export const siteToday = () => siteClock(Date.now()).slice(0, 10)

export const dayBefore = (date: string) =>
  new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10)
