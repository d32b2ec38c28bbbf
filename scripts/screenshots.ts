/**
 * Pictures of every page of the platform, on a desktop, in the dark and on a phone:
 * `npm run screenshots`. They are of the demo, which is started for it, or of a server that runs
 * already: `-- --url http://127.0.0.1:8080 --email ada@example.com --password-file FILE`. What an
 * administrator sees is shown; a work order and a defect are made for their pages.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { everyPage, type PageAddress } from '../test/browser/addresses.ts'
import {
  type Cookies,
  noBrowser,
  openBrowser,
  openWindow,
  signIn,
  visit,
} from '../test/browser/browser.ts'
import { type Demo, startDemo } from '../test/browser/demo.ts'
import { addressOf, firstLink, linkFor, takeInvitation, theSites } from '../test/browser/people.ts'

const kinds = {
  desktop: { size: 'desktop', scheme: 'light' },
  dark: { size: 'desktop', scheme: 'dark' },
  phone: { size: 'phone', scheme: 'light' },
} as const

const say = (text: string) => process.stdout.write(`${text}\n`)

const { values: given } = parseArgs({
  options: {
    to: { type: 'string', default: 'data/screenshots' },
    url: { type: 'string' },
    email: { type: 'string' },
    'password-file': { type: 'string' },
  },
})

if (noBrowser) {
  process.stderr.write(`${noBrowser}\n`)
  process.exit(1)
}
const demo = given.url ? running(given.url) : await startDemo()
const browser = await openBrowser()
try {
  const cookies = await administratorOf(demo, browser)
  const pages = await pagesOf(demo, browser, cookies)
  mkdirSync(given.to, { recursive: true })
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
    await picture(kind, pages, cookies)
  }
} finally {
  await browser.close()
  await demo.stop()
}

function running(url: string): Demo {
  const { email, 'password-file': file } = given
  if (!email || !file) {
    process.stderr.write('--url takes --email and --password-file of an administrator\n')
    process.exit(2)
  }
  const administrator = { email, password: readFileSync(file, 'utf8').trim() }
  return { base_url: url, first_link: null, administrator, stop: async () => {} }
}

async function administratorOf(from: Demo, by: Browser): Promise<Cookies> {
  const window = await openWindow(by, { base_url: from.base_url })
  try {
    if (from.administrator === null) {
      return (await takeInvitation(window, await firstLink(by, from), 'Ada Lovelace')).cookies
    }
    await signIn(window.page, from.administrator.email, from.administrator.password)
    await theSites(window.page)
    return await window.context.storageState()
  } finally {
    await window.close()
  }
}

async function pagesOf(from: Demo, by: Browser, cookies: Cookies): Promise<PageAddress[]> {
  const window = await openWindow(by, { base_url: from.base_url, signed_in: cookies })
  try {
    return await everyPage(window, await linkFor(window, 'viewer', addressOf('pictured')))
  } finally {
    await window.close()
  }
}

/** A page that does not show is said, and the others are taken. */
async function picture(
  kind: keyof typeof kinds,
  pages: readonly PageAddress[],
  cookies: Cookies,
): Promise<void> {
  const options = { base_url: demo.base_url, signed_in: cookies, ...kinds[kind] }
  const window = await openWindow(browser, options)
  try {
    for (const { pattern, address } of pages) {
      const name = pattern.replaceAll(/[^a-z]+/gi, '-').replaceAll(/^-|-$/g, '') || 'sites'
      const path = join(given.to, `${name}-${kind}.png`)
      try {
        await visit(window.page, address)
      } catch (error) {
        process.stderr.write(`${pattern}: ${(error as Error).message.split('\n')[0]}\n`)
        process.exitCode = 1
      }
      await window.page.screenshot({ path, fullPage: true })
      say(path)
      for (const fault of window.faults()) process.stderr.write(`${pattern}: ${fault}\n`)
    }
  } finally {
    await window.close()
  }
}
