/** A site is added, its gateway set up and exchanged, without a shell on the server. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { setUpGateway } from '../end-to-end/edge-program.ts'
import { loadSite } from '../end-to-end/load-site.ts'
import { programsIn } from '../end-to-end/programs.ts'
import { axeFindings, visit } from './browser.ts'
import { rowsOf } from './shown.ts'
import { asAdministrator, inWindow, newPersonOf, skip, stage } from './stage.ts'

const enrolment_ms_max = 180_000
const name = `East field ${Date.now().toString(36)}`
const site_id = name.toLowerCase().replaceAll(' ', '-')

/** The words of the shown command after `setup`. */
async function shownCommand(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: /^(Show setup|Create another) command$/ }).click()
  const text = await page.getByText(/^sudo heliograph-edge setup /).innerText()
  assert.deepEqual(await axeFindings(page), [])
  return text.trim().split(' ').slice(3)
}

const states = async (page: Page) =>
  (await rowsOf(page, 'Edges')).map((row) => row['State']?.toLowerCase())

test('an administrator adds a site, sets up its gateway, and exchanges it', {
  skip,
  timeout: enrolment_ms_max,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-enrolment-'))
  const template = { ...loadSite, site_id, name }
  const programs = await programsIn(dir, template, {
    SERVER_URL: stage.demo.base_url.replace('http', 'ws'),
  })
  t.after(async () => {
    await programs.endAll()
    rmSync(dir, { recursive: true, force: true })
  })
  await asAdministrator(async ({ page }) => {
    await visit(page, '/')
    await page.getByRole('link', { name: 'Add a site' }).click()
    await page.getByRole('button', { name: 'Add site' }).click()
    await page.getByText('Enter the name of the site.').waitFor()
    assert.deepEqual(await axeFindings(page), [])
    await page.getByLabel('Name').fill(name)
    assert.equal(await page.getByLabel('Site ID').inputValue(), site_id)
    await page.getByRole('button', { name: 'Add site' }).click()
    await page.getByText('No edge yet.').waitFor()

    const { code, output, notes } = await setUpGateway(dir, await shownCommand(page))
    assert.equal(code, 0, notes)
    assert.match(output, new RegExp(`gateway of ${name} \\(${site_id}\\)`))
    await page.getByText('The gateway was set up with this code.').waitFor()
    programs.start('simulator')
    programs.start('edge')
    await page.getByText('Connected', { exact: true }).waitFor({ timeout: 60_000 })
    const received = page.locator('section', { hasText: 'Received' })
    await received.getByText(/ago|now/).waitFor({ timeout: 60_000 })
    assert.match(await received.innerText(), /Inverters\s+12\s/)

    const second = setUpGateway(join(dir, 'second'), await shownCommand(page))
    await page.getByText('Another gateway asks to take over this site').waitFor()
    await page.getByRole('button', { name: 'Confirm take-over' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm take-over' })
    await dialog.getByText('Switch the present gateway off first').waitFor()
    await dialog.getByRole('button', { name: 'Take over' }).click()
    assert.equal((await second).code, 0, (await second).notes)
    await page.getByText('Revoked', { exact: true }).waitFor()
    assert.deepEqual(await states(page), ['not connected yet', 'revoked'])
  })
  const viewer = await newPersonOf('viewer')
  await inWindow({ signed_in: viewer.cookies }, async ({ page }) => {
    await visit(page, `/sites/${site_id}/edge`)
    assert.deepEqual(await states(page), ['not connected yet', 'revoked'])
    assert.equal(await page.getByRole('button', { name: /setup command/ }).count(), 0)
    await visit(page, '/')
    assert.equal(await page.getByRole('link', { name: 'Add a site' }).count(), 0)
  })
})
