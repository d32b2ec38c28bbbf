/** Every page of the table of pages: no error in the console, and nothing that axe finds. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { everyPage, type PageAddress } from './addresses.ts'
import {
  axeFindings,
  colour_rules,
  resize,
  type Size,
  showAll,
  sizes,
  visit,
  type Window,
} from './browser.ts'
import { addressOf, linkFor } from './people.ts'
import { asAdministrator, skip } from './stage.ts'

/** Some fifty pages in both colour schemes and on a phone, each looked through. */
const pages_ms_max = 900_000
const first_load_files_max = 15

test('every page shows without errors, and axe finds nothing', {
  timeout: pages_ms_max,
  skip,
  concurrency: 2,
}, async (t) => {
  let pages: PageAddress[] = []
  await asAdministrator(async (window) => {
    const invitation = await linkFor(window, 'viewer', addressOf('invited'))
    pages = await everyPage(window, invitation)
  })
  // Windows side by side, each with the next page that is left.
  await Promise.all([lookThrough(t, pages), lookThrough(t, pages)])
})

const other = { desktop: 'phone', phone: 'desktop' } as const

/** Layouts follow the size by style sheets, so that each page is loaded in one size, in turn. */
const lookThrough = (t: TestContext, left: PageAddress[]) =>
  asAdministrator(async (window) => {
    let size: Size = 'desktop'
    for (let next = left.shift(); next; next = left.shift()) {
      const { pattern, address } = next
      await t.test(pattern, async () => {
        await visit(window.page, address)
        assert.ok((await filesOf(window.page)) <= first_load_files_max)
        await showAll(window.page)
        const found = await findings(window, size)
        size = other[size]
        await resize(window.page, size)
        found.push(...(await findings(window, size)))
        assert.deepEqual([...window.faults(), ...found], [])
      })
    }
  })

const filesOf = (page: Page) =>
  page.evaluate<number>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')).length`,
  )

async function findings({ page }: Window, size: Size): Promise<string[]> {
  const found = size === 'phone' ? await onPhone(page) : await inBothSchemes(page)
  return found.map((finding) => `${size}: ${finding}`)
}

async function inBothSchemes(page: Page): Promise<string[]> {
  const light = await axeFindings(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
  const findings = await axeFindings(page, colour_rules)
  const dark = findings.map((finding) => `dark: ${finding}`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.locator('[data-mantine-color-scheme=light]').waitFor({ state: 'attached' })
  return [...light, ...dark]
}

/** Nobody scrolls a page to the side: what is wide scrolls by itself. */
async function onPhone(page: Page): Promise<string[]> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  const { viewport } = sizes.phone
  return [...(width > viewport.width ? [`${width} px wide`] : []), ...(await axeFindings(page))]
}
