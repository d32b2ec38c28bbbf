/** What opens over a page is looked through as the pages are, on a desktop and on a phone. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { site_id } from './addresses.ts'
import { raiseAlert } from './alert.ts'
import { axeFindings, networkIdle, resize, settle, visit, type Window } from './browser.ts'
import { applied_ms_max, planned_ms_max } from './commands.ts'
import { untilTomorrowHasPrices } from './history.ts'
import { addressOf } from './people.ts'
import { asAdministrator, newPersonOf, skip, stage } from './stage.ts'

const dialogs_ms_max = 300_000

const look = (name: string, use: (page: Page, window: Window) => Promise<void>) =>
  test(`${name}: axe finds nothing`, { skip, timeout: dialogs_ms_max }, () =>
    asAdministrator((window) => use(window.page, window)),
  )
look('a new key, and the key that is shown', lookAtKey)
look('an invitation, and its link', lookAtInvitation)
look('a limit, its confirmation and its release', lookAtLimit)
look('a plan, an hour of it, and its decision', lookAtPlan)
look('an alert, and a note on it', lookAtAlert)
look('a subscription', lookAtSubscription)
look('forms that say what is wrong', lookAtWrongForms)
test('a second factor being set up: axe finds nothing', { skip }, async () => {
  const person = await newPersonOf('operator')
  await asAdministrator(({ page }) => lookAtSecondFactor(page, person.password), {
    signed_in: person.cookies,
  })
})

/** While a dialog fades in, its colours have less contrast than they will have. */
const transitionsEnd = (page: Page) =>
  page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map(({ finished }) => finished.then(() => null)),
    ).then(() => null),
  )

async function nothingFound(page: Page): Promise<void> {
  await networkIdle(page)
  for (const size of ['phone', 'desktop'] as const) {
    await resize(page, size)
    await transitionsEnd(page)
    assert.deepEqual(await axeFindings(page), [], size)
  }
}

async function opened(page: Page, name: string | RegExp): Promise<Locator> {
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  await nothingFound(page)
  return dialog
}

const click = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole('button', { name, exact: true }).click()

async function lookAtKey(page: Page): Promise<void> {
  await visit(page, '/settings/keys')
  await click(page, 'New key')
  const form = await opened(page, 'New key')
  await form.getByLabel(/^Name/).fill(addressOf('looked-at-key'))
  await click(form, 'Read everything')
  await click(form, 'Create key')
  const shown = await opened(page, /^Key “/)
  await shown.getByRole('button', { name: /Try it/ }).click()
  await shown.getByText('200: the key is valid.').waitFor()
  await nothingFound(page)
}

async function lookAtInvitation(page: Page): Promise<void> {
  await visit(page, '/settings/people')
  await click(page, 'Invite person')
  const form = await opened(page, 'Invite person')
  await form.getByLabel('E-mail').fill(addressOf('looked-at'))
  await click(form, 'Invite')
  await opened(page, /^Link for/)
}

async function lookAtLimit(page: Page): Promise<void> {
  await visit(page, `/sites/${site_id}/curtailment`)
  await click(page, 'Limit output')
  const form = await opened(page, 'Limit output')
  await form.getByLabel('Apply to').selectOption('2')
  await form.getByLabel('Limit', { exact: true }).fill('93')
  await form.getByLabel('Duration', { exact: true }).selectOption('15')
  await click(form, 'Review')
  const confirmation = await opened(page, 'Review limit')
  await click(confirmation, 'Limit now')
  await confirmation.waitFor({ state: 'detached' })
  const heading = page.getByRole('heading', { name: /Limit 93 %/ })
  await heading.waitFor()
  const card = page.locator('.mantine-Card-root').filter({ has: heading }).last()
  await click(card, 'Release')
  const release = await opened(page, 'Release limit')
  await click(release, 'Release now')
  await release.getByRole('button', { name: 'Close' }).last().waitFor()
  await release
    .getByText(/lifted|confirmed/)
    .first()
    .waitFor({ timeout: applied_ms_max })
  await nothingFound(page)
}

async function lookAtPlan(page: Page, window: Window): Promise<void> {
  await untilTomorrowHasPrices(window)
  await visit(page, `/sites/${site_id}/batteries/1/day`)
  await page.getByText('Tomorrow', { exact: true }).click()
  await click(page, 'Create plan')
  const form = await opened(page, /^Plan /)
  await click(form, 'Create')
  await form.waitFor({ state: 'detached', timeout: planned_ms_max })
  await settle(page)
  await page
    .getByRole('button', { name: /^Change \d/ })
    .last()
    .click()
  const hour = await opened(page, /local time$/)
  await click(hour, 'Cancel')
  await click(page, 'Approve')
  const approval = await opened(page, 'Approve the plan')
  await click(approval, 'Cancel')
  await click(page, 'Reject')
  await opened(page, 'Reject the plan')
}

async function lookAtAlert(page: Page): Promise<void> {
  await raiseAlert(stage.demo)
  await visit(page, `/sites/${site_id}/alerts`)
  await page
    .getByText(/^since /)
    .first()
    .click()
  const drawer = page.getByRole('dialog')
  await drawer.getByRole('button', { name: 'Resolve' }).waitFor()
  await nothingFound(page)
  await click(drawer, 'Resolve')
  await page.getByRole('dialog').getByLabel('Note').waitFor()
  await nothingFound(page)
}

async function lookAtSubscription(page: Page): Promise<void> {
  await visit(page, `/sites/${site_id}/reports?tab=catalogue`)
  await page
    .getByRole('button', { name: /^Subscribe: / })
    .first()
    .click()
  const drawer = await opened(page, /^Subscribe to /)
  await drawer.getByLabel('Name').fill('')
  await drawer.locator('button[type=submit]').click()
  await drawer.getByText('Enter a name.').waitFor()
  await nothingFound(page)
}

async function lookAtWrongForms(page: Page): Promise<void> {
  await visit(page, `/sites/${site_id}/defects/new`)
  await click(page, 'Report defect')
  await page.getByText('Enter a title.').waitFor()
  await nothingFound(page)
  await visit(page, `/sites/${site_id}/work-orders/new`)
  await click(page, 'Create work order')
  await page.getByText('Enter a title.').waitFor()
  await nothingFound(page)
}

async function lookAtSecondFactor(page: Page, password: string): Promise<void> {
  await visit(page, '/account')
  const part = page.getByRole('region', { name: 'Second factor' })
  await click(part, 'Set up')
  await part.getByText('Enter your password.').waitFor()
  await nothingFound(page)
  await part.getByLabel(/^Your password/).fill(password)
  await click(part, 'Set up')
  await part.getByLabel(/Present code of the app/).waitFor()
  await click(part, 'Enable')
  await part.getByText('Enter the six digits of the app.').waitFor()
  await nothingFound(page)
}
