/**
 * Pictures of every page of the platform, in three kinds (desktop, dark, phone):
 * `npm run screenshots`. Starts the demo and waits for its history, or uses a running server:
 * `-- --url http://127.0.0.1:8080 --email ada@example.com --password-file FILE`. Pages are shown as
 * an administrator sees them; a work order and a defect are created for their pages.
 * `--page /sites/:site_id --kind desktop` takes a single picture, of the first screen only.
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
  showAll,
  signIn,
  visit,
} from '../test/browser/browser.ts'
import { type Demo, startDemo } from '../test/browser/demo.ts'
import { untilHistoryIsThere } from '../test/browser/history.ts'
import { addressOf, firstLink, linkFor, takeInvitation, theSites } from '../test/browser/people.ts'

const kinds = {
  desktop: { size: 'desktop', scheme: 'light' },
  dark: { size: 'desktop', scheme: 'dark' },
  phone: { size: 'phone', scheme: 'light' },
} as const

type Kind = keyof typeof kinds
const everyKind = Object.keys(kinds) as Kind[]

const say = (text: string) => process.stdout.write(`${text}\n`)

const { values: given } = parseArgs({
  options: {
    to: { type: 'string', default: 'data/screenshots' },
    url: { type: 'string' },
    email: { type: 'string' },
    'password-file': { type: 'string' },
    page: { type: 'string' },
    kind: { type: 'string' },
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
  for (const kind of everyKind) {
    if (kind === (given.kind ?? kind)) await takePictures(kind, pages, cookies)
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
    if (!given.url) await untilHistoryIsThere(window)
    const pages = await everyPage(window, await linkFor(window, 'viewer', addressOf('pictured')))
    return pages.filter(({ pattern }) => pattern === (given.page ?? pattern))
  } finally {
    await window.close()
  }
}

/** Reports a page that fails to load, and goes on with the next. */
async function takePictures(
  kind: Kind,
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
        if (!given.page) await showAll(window.page)
      } catch (error) {
        process.stderr.write(`${pattern}: ${(error as Error).message.split('\n')[0]}\n`)
        process.exitCode = 1
      }
      await window.page.screenshot({ path, fullPage: !given.page })
      say(path)
      for (const fault of window.faults()) process.stderr.write(`${pattern}: ${fault}\n`)
    }
  } finally {
    await window.close()
  }
}
