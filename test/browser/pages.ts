/** Every page of the table of pages: no error in the console, and nothing that axe finds. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { everyPage, type PageAddress } from './addresses.ts'
import { axeFindings, colour_rules, sizes, visit, type Window } from './browser.ts'
import { addressOf, linkFor } from './people.ts'
import { asAdministrator, skip } from './stage.ts'

/** Some forty pages in both colour schemes and on a phone, each looked through. */
const pages_ms_max = 900_000

test('every page shows without errors, and axe finds nothing', {
  timeout: pages_ms_max,
  skip,
  concurrency: 3,
}, async (t) => {
  let pages: PageAddress[] = []
  await asAdministrator(async (window) => {
    const invitation = await linkFor(window, 'viewer', addressOf('invited'))
    pages = await everyPage(window, invitation)
  })
  const for_desktop = [...pages]
  // Windows side by side, each with the next page that is left.
  await Promise.all([
    lookThrough(t, for_desktop, 'desktop'),
    lookThrough(t, for_desktop, 'desktop'),
    lookThrough(t, pages, 'phone'),
  ])
})

const lookThrough = (t: TestContext, left: PageAddress[], size: keyof typeof sizes) =>
  asAdministrator(
    async (window) => {
      for (let next = left.shift(); next; next = left.shift()) {
        const { pattern, address } = next
        await t.test(size === 'phone' ? `${pattern} on a phone` : pattern, async () => {
          await visit(window.page, address)
          const found = size === 'phone' ? await onPhone(window) : await inBothSchemes(window)
          assert.deepEqual([...window.faults(), ...found], [])
        })
      }
    },
    { size },
  )

async function inBothSchemes({ page }: Window): Promise<string[]> {
  const light = await axeFindings(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
  const findings = await axeFindings(page, colour_rules)
  const dark = findings.map((finding) => `dark: ${finding}`)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark]
}

/** Nobody scrolls a page to the side: what is wide scrolls by itself. */
async function onPhone({ page }: Window): Promise<string[]> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  const { viewport } = sizes.phone
  return [...(width > viewport.width ? [`${width} px wide`] : []), ...(await axeFindings(page))]
}
