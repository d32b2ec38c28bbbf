/** What these tests stand on: one demo, one browser, and the first administrator. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Browser } from 'playwright-core'
import { noBrowser, openBrowser, openWindow, type Window, type WindowOptions } from './browser.ts'
import { startDemo, type TestDemo } from './demo.ts'
import { newPerson, type Person, type Role } from './people.ts'

export interface Stage {
  demo: TestDemo
  browser: Browser
  /** Once the first test has made the account. */
  administrator?: Person
}

export const stage = {} as Stage

/** What needs a browser is left out where there is none. */
export const skip = noBrowser ?? false
if (noBrowser) process.stderr.write(`${noBrowser}\n`)

const shown_characters_max = 1500

before(async () => {
  stage.demo = await startDemo()
  if (!noBrowser) stage.browser = await openBrowser()
})
after(async () => {
  await stage.browser?.close()
  await stage.demo?.stop()
})

export type Opened = Omit<WindowOptions, 'base_url'>

/** A window which closes with nothing gone wrong in it; a test that fails says what it showed. */
export async function inWindow(
  options: Opened,
  use: (window: Window) => Promise<void>,
): Promise<void> {
  const window = await openWindow(stage.browser, {
    base_url: stage.demo.base_url,
    ...options,
  })
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

export const asAdministrator = (use: (window: Window) => Promise<void>, options: Opened = {}) => {
  const { administrator } = stage
  if (!administrator) throw new Error('there is no administrator: see the first test')
  return inWindow({ signed_in: administrator.cookies, ...options }, use)
}

export async function newPersonOf(role: Role): Promise<Person> {
  let person: Person | undefined
  await asAdministrator(async (window) => {
    person = await newPerson(stage.browser, stage.demo.base_url, { by: window, role })
  })
  return person!
}
