/**
 * Debian's Chromium, as a person has it: a window of a size and a colour scheme. What goes wrong in
 * it without being seen – an error in the console, an exception, a request that fails – is kept,
 * and a test says at its end that there is nothing.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
  type Request,
} from 'playwright-core'

/** The shell has no window to draw, so it takes less of the processor. */
const executable = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync)
/** What a test waits for at most, unless it says otherwise. */
const patience_ms = 15_000

/** Why there is no browser; null: there is one. */
export const noBrowser = executable
  ? null
  : `LEFT OUT: the pages of the platform in a real browser: Debian's chromium is not installed`

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable!,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })

export const sizes = {
  desktop: { viewport: { width: 1360, height: 850 }, hasTouch: false, isMobile: false },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
} as const

export type Size = keyof typeof sizes

export type Cookies = Awaited<ReturnType<BrowserContext['storageState']>>

export interface WindowOptions {
  base_url: string
  size?: Size
  scheme?: 'light' | 'dark'
  /** Of who signed in before. */
  signed_in?: Cookies
  /** What is refused on purpose, by method and address, such as `/401 GET .*session/`. */
  expected?: readonly RegExp[]
}

export interface Window {
  context: BrowserContext
  page: Page
  /** What went wrong since it was last asked. */
  faults(): string[]
  /** From here on requests may fail: there is no connection. */
  lose(): Promise<void>
  regain(): Promise<void>
  close(): Promise<void>
}

export async function openWindow(browser: Browser, options: WindowOptions): Promise<Window> {
  const { base_url, size = 'desktop', scheme = 'light', signed_in, expected = [] } = options
  const context = await browser.newContext({
    ...sizes[size],
    baseURL: base_url,
    colorScheme: scheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...(signed_in && { storageState: signed_in }),
  })
  context.setDefaultTimeout(patience_ms)
  const page = await context.newPage()
  noteRequests(page)
  let found: string[] = []
  let is_lost = false
  const add = (fault: string) => {
    if (!is_lost && !expected.some((pattern) => pattern.test(fault))) found.push(fault)
  }
  page.on('console', (message) => {
    // The browser's own line of a failed request: those are told below, with their status.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return
    add(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => add(`exception: ${error.message}`))
  page.on('response', (response) => {
    const request = response.request()
    if (response.status() >= 400) {
      add(`${response.status()} ${request.method()} ${response.url()}`)
    }
  })
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    // A page that is left takes its questions back.
    if (why !== 'net::ERR_ABORTED') add(`${why} ${request.method()} ${request.url()}`)
  })
  return {
    context,
    page,
    faults() {
      const told = [...new Set(found)]
      found = []
      return told
    },
    async lose() {
      is_lost = true
      await context.setOffline(true)
    },
    async regain() {
      await context.setOffline(false)
      is_lost = false
    },
    close: () => context.close(),
  }
}

/** An emulation lasts as long as its session. */
const sessions = new WeakMap<Page, Promise<CDPSession>>()

/** Changes the size of an open page, which keeps what it loaded. */
export async function resize(page: Page, to: Size): Promise<void> {
  const opened = sessions.get(page) ?? page.context().newCDPSession(page)
  sessions.set(page, opened)
  const session = await opened
  const { viewport, isMobile, hasTouch } = sizes[to]
  const metrics = { ...viewport, mobile: isMobile, deviceScaleFactor: 1 }
  await session.send('Emulation.setDeviceMetricsOverride', metrics)
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: hasTouch })
  await page.waitForFunction(`matchMedia('(width: ${viewport.width}px)').matches`)
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
}

/** The page with its heading and its data: neither a spinner nor a grey box is left. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await settle(page)
}

export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await networkIdle(page)
  const waiting = page.getByRole('status', { name: 'Loading' })
  await waiting.or(page.locator('.mantine-Skeleton-root')).first().waitFor({ state: 'detached' })
}

const asked = new WeakMap<Page, { open: Set<Request>; changed: EventTarget }>()

/** The stream of events lasts as long as the page, and is none of them. */
function noteRequests(page: Page): void {
  const requests = { open: new Set<Request>(), changed: new EventTarget() }
  asked.set(page, requests)
  const note = (change: (request: Request) => void) => (request: Request) => {
    if (/\/events$/.test(request.url())) return
    change(request)
    requests.changed.dispatchEvent(new Event('change'))
  }
  const begin = note((request) => requests.open.add(request))
  const end = note((request) => requests.open.delete(request))
  page.on('request', begin)
  page.on('requestfinished', end)
  page.on('requestfailed', end)
}

const idle_ms = 500

/** Resolves when the page has had no open request for half a second. */
export async function networkIdle(page: Page): Promise<void> {
  const { open, changed } = asked.get(page)!
  await new Promise<void>((resolve) => {
    let idle: NodeJS.Timeout | undefined
    const look = () => {
      clearTimeout(idle)
      if (open.size === 0) idle = setTimeout(end, idle_ms)
    }
    const end = () => {
      changed.removeEventListener('change', look)
      resolve()
    }
    changed.addEventListener('change', look)
    look()
  })
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  help: string
  nodes: { html: string; failureSummary?: string }[]
}

/** The rules of axe that depend on colours. */
export const colour_rules = ['color-contrast', 'link-in-text-block']

/**
 * What axe finds on the page: by all its rules, or by these. Its source is evaluated by the
 * debugger, for which the page's own policy of scripts need not be weakened.
 */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(`globalThis.axe ?? (() => {${axe}})()`)
  // No rule that runs reads the style sheets, which axe parses anew for each run.
  const preload = { assets: ['media'] }
  const options = { preload, resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(${JSON.stringify(options)})`,
  )
  return violations.map(({ id, help, nodes }) => {
    const [first] = nodes
    const where = first?.html.replaceAll(/\s+/g, ' ').slice(0, 200)
    const why = first?.failureSummary?.replaceAll(/\s+/g, ' ').slice(0, 200)
    return `axe ${id}: ${help}: ${nodes.length} × ${where}: ${why}`
  })
}

/** Not the button that shows it, nor the one for typing it again. */
export const passwordField = (page: Page) => page.getByLabel(/^Password( \*)?$/)

export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('E-mail').fill(email)
  await passwordField(page).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Parts that load once a person scrolls to them. */
export async function showAll(page: Page): Promise<void> {
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  await settle(page)
  await page.evaluate('scrollTo(0, 0)')
}

export interface Asked {
  method?: 'GET' | 'POST' | 'PUT'
  body?: object
}

/** The API, by the session of the window. */
export async function ask<Answer>(
  { context }: Pick<Window, 'context'>,
  address: string,
  { method = 'GET', body }: Asked = {},
): Promise<Answer> {
  const answer = await context.request.fetch(address, {
    method,
    headers: {
      'x-heliograph-session': '1',
      accept: 'application/json',
      ...(body && { 'idempotency-key': `browser-${performance.now()}` }),
    },
    ...(body && { data: body }),
  })
  if (!answer.ok()) {
    throw new Error(`${method} ${address}: ${answer.status()} ${await answer.text()}`)
  }
  return (await answer.json()) as Answer
}
