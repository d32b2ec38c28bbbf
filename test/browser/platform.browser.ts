/**
 * The owner's platform as people use it: the whole demo, and a real browser. One demo and one
 * browser for all of it; each test has a window of its own.
 */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { totp } from '@heliograph/server/platform/fixtures/totp'
import type { Browser, Page } from 'playwright-core'
import { everyPage, newWorkOrder, type PageAddress, site_id } from './addresses.ts'
import {
  axeFindings,
  noBrowser,
  openBrowser,
  openWindow,
  settle,
  signIn,
  sizes,
  visit,
  type Window,
  type WindowOptions,
} from './browser.ts'
import { type Demo, startDemo } from './demo.ts'
import {
  addressOf,
  firstLink,
  linkFor,
  newPerson,
  type Person,
  type Role,
  signOut,
  takeInvitation,
  theSites,
} from './people.ts'

const skip = noBrowser ?? false
if (noBrowser) process.stderr.write(`${noBrowser}\n`)

const signed_out = /^401 GET .*\/platform\/session$/
/** From a command to the devices and back. */
const applied_ms_max = 30_000
const planned_ms_max = 30_000
/** Some forty pages in both colour schemes, each looked through. */
const pages_ms_max = 900_000
/** What a viewer must not be offered. */
const forbidden =
  /^(Curtail|Limit|Release|Approve|Reject|Make|New|Change|Acknowledge|Resolve|Revoke)\b/
const shown_characters_max = 1500

let demo: Demo
let browser: Browser
let administrator: Person | undefined

before(async () => {
  if (noBrowser) return
  demo = await startDemo()
  browser = await openBrowser()
})
after(async () => {
  await browser?.close()
  await demo?.stop()
})

/** A window which closes with nothing gone wrong in it; a test that fails says what it showed. */
async function inWindow(
  options: Omit<WindowOptions, 'base_url'>,
  use: (window: Window) => Promise<void>,
): Promise<void> {
  const window = await openWindow(browser, { base_url: demo.base_url, ...options })
  try {
    await use(window)
    assert.deepEqual(window.faults(), [])
  } catch (error) {
    const texts = await Promise.all(
      ['[role=dialog]', '[role=alert]', 'main'].map((part) =>
        window.page.locator(part).allInnerTexts(),
      ),
    ).catch(() => [])
    const text = texts.flat().join(' ')
    const page = text.replaceAll(/\s+/g, ' ').slice(0, shown_characters_max)
    const shown = [window.page.url(), ...window.faults(), page]
    throw new Error(`${(error as Error).message}\n${shown.join('\n')}`, { cause: error })
  } finally {
    await window.close()
  }
}

const asAdministrator = (
  use: (window: Window) => Promise<void>,
  options: Omit<WindowOptions, 'base_url'> = {},
) => {
  if (!administrator) throw new Error('there is no administrator: see the first test')
  return inWindow({ signed_in: administrator.cookies, ...options }, use)
}

async function newPersonOf(role: Role): Promise<Person> {
  let person: Person | undefined
  await asAdministrator(async (window) => {
    person = await newPerson(browser, demo.base_url, { by: window, role })
  })
  return person!
}

test('the one-time link makes an account that is signed in, and works once', { skip }, async () => {
  const link = await firstLink(browser, demo)
  await inWindow({ expected: [/^404 POST .*\/invitations\/look$/] }, async (window) => {
    const { page } = window
    administrator = await takeInvitation(window, link, 'Ada Lovelace')
    await page.getByRole('link', { name: /Demo/ }).first().waitFor()
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByRole('alert', { name: /does not work any more/ }).waitFor()
  })
})

test('with a second factor the password alone opens nothing', { skip }, async () => {
  const { email, password, cookies } = await newPersonOf('operator')
  await inWindow({ signed_in: cookies, expected: [signed_out] }, async ({ page }) => {
    await visit(page, '/account')
    const part = page.getByRole('region', { name: 'Second factor' })
    await part.getByLabel(/^Your password/).fill(password)
    await part.getByRole('button', { name: 'Set it up' }).click()
    const secret = await part.getByText(/^[A-Z2-7]{16,}=*$/).innerText()
    await part.getByLabel(/The code that the app shows/).fill(totp(secret))
    await part.getByRole('button', { name: 'Turn it on' }).click()
    await part.getByText('On', { exact: true }).waitFor()
    await signOut(page)
    await signIn(page, email, password)
    await page.getByText('Code of your authenticator').first().waitFor()
    await page.getByRole('textbox').first().click()
    await page.keyboard.type(totp(secret))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await theSites(page)
  })
})

test('a key is made, shown once, and answers a call', { skip }, async () => {
  await asAdministrator(async ({ page }) => {
    const name = `Energy trader ${addressOf('key')}`
    await visit(page, '/settings/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByRole('button', { name: 'Make the key' }).click()
    await form.getByText('Name what uses it', { exact: false }).waitFor()
    await form.getByLabel(/^Name/).fill(name)
    await form.getByRole('button', { name: 'Read everything' }).click()
    await form.getByRole('button', { name: 'Make the key' }).click()
    const shown = page.getByRole('dialog', { name: `The key “${name}”` })
    const secret = await shown
      .getByText(/^hg_|^[A-Za-z0-9_-]{30,}$/)
      .first()
      .innerText()
    await shown.getByRole('button', { name: /Try it/ }).click()
    await shown.getByText('200: the key works.').waitFor()
    const answer = await fetch(`${demo.base_url}/v1/sites`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    assert.equal(answer.status, 200)
    await shown.getByRole('button', { name: 'I have stored it' }).click()
    await shown.waitFor({ state: 'detached' })
    await page.getByText(name).first().waitFor()
    assert.equal(await page.getByText(secret).count(), 0, 'it is shown once')
  })
})

test('a plant is limited, the devices show it, and it is released', { skip }, async () => {
  await asAdministrator(async ({ page }) => {
    await visit(page, `/sites/${site_id}/curtailment`)
    await page.getByRole('button', { name: 'Limit output' }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('button', { name: 'Look at what it does' }).click()
    await form.getByText('How much may be delivered?').waitFor()
    const where = form.getByLabel('Where')
    await where.selectOption('1')
    await form.getByLabel('At most').fill('37')
    await form.getByLabel('For', { exact: true }).selectOption('15')
    await form.getByRole('button', { name: 'Look at what it does' }).click()
    await form.getByText('148.0 kW').first().waitFor()
    // Twice, as by a double click: it is one command.
    await form.getByRole('button', { name: 'Limit now' }).dblclick()
    await form.waitFor({ state: 'detached' })
    const heading = page.getByRole('heading', { name: /At most 37 %/ })
    await heading.waitFor()
    assert.equal(await heading.count(), 1)
    const card = page.locator('.mantine-Card-root').filter({ has: heading }).last()
    await card
      .getByText('In force')
      .filter({ visible: true })
      .first()
      .waitFor({ timeout: applied_ms_max })
    await card
      .getByText(/^Devices limited \S/)
      .filter({ visible: true })
      .first()
      .waitFor({ timeout: applied_ms_max })
    await card.getByRole('button', { name: 'Release' }).click()
    const release = page.getByRole('dialog', { name: 'Release the limit' })
    await release.getByRole('button', { name: 'Release now' }).click()
    await release
      .getByText(/the limit is lifted at every plant/)
      .waitFor({ timeout: applied_ms_max })
    await release.getByRole('button', { name: 'Close' }).last().click()
    await heading.waitFor({ state: 'detached' })
  })
})

test('a plan is proposed, an hour of it is changed, and it is approved', { skip }, async () => {
  await asAdministrator(async ({ page }) => {
    await visit(page, `/sites/${site_id}/batteries/1/day`)
    // A plan of tomorrow has no hour that has begun.
    await page.getByText('Tomorrow', { exact: true }).click()
    await page.getByRole('button', { name: 'Make a plan' }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('button', { name: 'Make the plan' }).click()
    await form.waitFor({ state: 'detached', timeout: planned_ms_max })
    await settle(page)
    await changeAnHour(page)
    await page.getByText('Changed by hand').waitFor()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    const approval = page.getByRole('dialog', { name: 'Approve the plan' })
    await approval.getByRole('button', { name: 'Approve' }).click()
    await approval.waitFor({ state: 'detached' })
    await page.getByText(/; approved by/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Approve', exact: true }).count(), 0)
  })
})

/** The last hour that can give something else while the others stay as they are. */
async function changeAnHour(page: Page): Promise<void> {
  const rows = page.getByRole('row').filter({ hasText: /\sto\s-?[\d.,]+\skW/ })
  await rows.last().getByRole('button', { name: 'Change' }).click()
  const form = page.getByRole('dialog')
  const band = /From\s(-?[\d.,]+)\skW\sto\s(-?[\d.,]+)\skW/.exec(await form.innerText())
  assert.ok(band, 'the band is told')
  const [least = 0, most = 0] = band.slice(1).map((text) => Number(text.replaceAll(',', '')))
  const power = form.getByLabel('Power', { exact: true })
  await power.fill('99999')
  await form.getByRole('button', { name: 'Change the hour' }).click()
  await form.getByText(/^The most is/).waitFor()
  await power.fill(((least + most) / 2).toFixed(1))
  await form.getByRole('button', { name: 'Change the hour' }).click()
  await form.waitFor({ state: 'detached' })
}

test('a checklist is filled in on a phone', { skip }, async () => {
  await asAdministrator(
    async (window) => {
      const { page } = window
      const wo_id = await newWorkOrder(window)
      await visit(page, `/sites/${site_id}/work-orders/${wo_id}`)
      await page.getByRole('button', { name: 'Start work' }).tap()
      await page.getByText('To complete it, these are still to be done').waitFor()
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert.ok(width <= sizes.phone.viewport.width, `the page is ${width} wide`)
      const count = await page.getByRole('button', { name: /^Pass: / }).count()
      assert.ok(count > 0, 'the work order has a checklist')
      for (let nth = 0; nth < count; nth += 1) await answerItem(page, nth)
      await page.getByText(/^\d+ of \d+ done/).waitFor()
      await page.getByRole('button', { name: 'Complete', exact: true }).tap()
      await page.getByRole('button', { name: 'Send back' }).waitFor()
    },
    { size: 'phone' },
  )
})

/** What has to be measured or written first is; then it passes. */
async function answerItem(page: Page, nth: number): Promise<void> {
  const card = page.locator('[id^=item-]').nth(nth)
  const limits = await card.getByText(/^Passes /).allInnerTexts()
  const [measured = '1'] = /[\d.]+/.exec(limits.join(' ')) ?? []
  for (const field of await card.getByLabel(/^(Measured|Text|Name of who signs)/).all()) {
    await field.fill(measured)
  }
  await card.getByRole('button', { name: /^Pass: / }).tap()
  await card.getByRole('button', { name: /^Pass: /, pressed: true }).waitFor()
}

test('without a connection it says so, and nothing that was typed is lost', { skip }, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    await visit(page, `/sites/${site_id}/work-orders/new`)
    const title = page.getByLabel(/^What is to be done/)
    await title.fill('Typed before the line went')
    await window.lose()
    const banner = page.getByRole('alert').filter({ hasText: 'The server does not answer' })
    await banner.waitFor()
    assert.equal(await title.inputValue(), 'Typed before the line went')
    await page.getByRole('button', { name: 'Make the work order' }).click()
    await page
      .getByText(/cannot be reached|no answer/)
      .first()
      .waitFor()
    assert.equal(await title.inputValue(), 'Typed before the line went')
    await window.regain()
    await banner.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Make the work order' }).click()
    await page.getByRole('heading', { name: /Typed before the line went/ }).waitFor()
  })
})

test('a viewer finds nothing that he may not do, and is refused it', { skip }, async () => {
  const { cookies } = await newPersonOf('viewer')
  await inWindow({ signed_in: cookies }, async ({ page, context }) => {
    for (const path of ['', '/curtailment', '/batteries/1/day', '/alerts', '/work-orders']) {
      await visit(page, `/sites/${site_id}${path}`)
      const commands = page
        .getByRole('button', { name: forbidden })
        .or(page.getByRole('link', { name: forbidden }))
      assert.deepEqual(await commands.allInnerTexts(), [], path)
    }
    const menu = page.getByRole('navigation')
    await menu.getByRole('link', { name: 'Overview' }).waitFor()
    assert.equal(await menu.getByRole('link', { name: /API access|People|Audit/ }).count(), 0)
    const refused = await context.request.post(`/v1/sites/${site_id}/curtailment/immediate`, {
      headers: { 'x-heliograph-session': '1', 'idempotency-key': addressOf('refused') },
      data: { scope: 'site', limit_mode: 'percent', limit_value: 50, duration_minutes: 15 },
    })
    assert.equal(refused.status(), 403)
  })
})

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
  // Two windows at once, each with the next page that is left.
  const look = () =>
    asAdministrator(async (window) => {
      for (let next = pages.shift(); next; next = pages.shift()) {
        const { pattern, address } = next
        await t.test(pattern, async () => {
          assert.deepEqual(await findingsOf(window, address), [])
        })
      }
    })
  await Promise.all([look(), look()])
})

async function findingsOf(window: Window, address: string): Promise<string[]> {
  const { page } = window
  await page.emulateMedia({ colorScheme: 'light' })
  await visit(page, address)
  const light = await axeFindings(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
  const dark = (await axeFindings(page)).map((finding) => `dark: ${finding}`)
  return [...window.faults(), ...light, ...dark]
}
