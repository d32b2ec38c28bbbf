/**
 * Pages of the platform: time in which Chromium draws a day of 5-second data of 12 inverters, and a
 * heat map of 12,000 strings, from nothing to the last paint; and the amount of script that a
 * browser loads before the first page.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { buildWeb } from '../scripts/build-web.ts'
import { noBrowser, openBrowser } from '../test/browser/browser.ts'
import { median } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'

const lines_ms_max = 100
const map_ms_max = 300
const script_kb_max = 250
const rounds = quickOr(1, 11)
/** No other machine: every address of it is answered from the folder that was built. */
const origin = 'http://bench.invalid'

const fixture = fileURLToPath(new URL('./fixtures/pages', import.meta.url))
const dist = fileURLToPath(new URL('../web/dist', import.meta.url))

const out_dir = mkdtempSync(join(tmpdir(), 'heliograph-bench-pages-'))
try {
  await buildWeb({ when_missing: quickOr(true, false) })
  const held = [reportScript(), await reportDrawing()]
  process.exitCode = held.every(Boolean) ? 0 : 1
} finally {
  rmSync(out_dir, { recursive: true, force: true })
}

function reportScript(): boolean {
  const files = firstLoad(dist)
  const bytes = files.map((file) => gzipSync(readFileSync(join(dist, file))).length)
  const kb = bytes.reduce((sum, size) => sum + size, 0) / 1000
  process.stdout.write(
    `first load: ${kb.toFixed(0)} kB of script in ${files.length} files, gzipped, ` +
      `limit ${script_kb_max} kB\n`,
  )
  return kb <= script_kb_max
}

/** The scripts of index.html, and all that they import at once. */
function firstLoad(folder: string): string[] {
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const found = new Set<string>()
  const follow = (file: string) => {
    if (found.has(file)) return
    found.add(file)
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:from|import)\s*["'](\.[^"']+\.js)["']/g)) {
      follow(posix.join(posix.dirname(file), name))
    }
  }
  for (const [, name = ''] of html.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)) follow(name)
  if (found.size === 0) throw new Error(`${folder}/index.html loads no script`)
  return [...found]
}

async function reportDrawing(): Promise<boolean> {
  if (noBrowser) {
    process.stderr.write(`${noBrowser}\n`)
    return true
  }
  await buildFixture()
  const browser = await openBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 1360, height: 850 } })
    await page.route(`${origin}/**`, async (route) => {
      const { pathname } = new URL(route.request().url())
      const file = join(out_dir, pathname === '/' ? 'index.html' : pathname)
      if (existsSync(file)) await route.fulfill({ path: file })
      else await route.fulfill({ status: 404 })
    })
    await page.goto(origin)
    await page.waitForFunction('globalThis.counts')
    const { points, strings } = await page.evaluate<Record<string, number>>('counts')
    const lines = await measure(page, 'drawLines()')
    const map = await measure(page, 'drawMap()')
    process.stdout.write(
      `${points} points of 12 lines drawn in ${said(lines)}, limit ${lines_ms_max} ms\n` +
        `heat map of ${strings} strings drawn in ${said(map)}, limit ${map_ms_max} ms\n`,
    )
    return median(lines) <= lines_ms_max && median(map) <= map_ms_max
  } finally {
    await browser.close()
  }
}

async function buildFixture(): Promise<void> {
  const { build } = await import('vite')
  const { default: react } = await import('@vitejs/plugin-react')
  await build({
    root: fixture,
    configFile: false,
    plugins: [react()],
    logLevel: 'warn',
    build: { outDir: out_dir, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  })
}

async function measure(page: Page, call: string): Promise<number[]> {
  const elapsed_ms: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    elapsed_ms.push(await page.evaluate<number>(call))
  }
  return elapsed_ms
}

function said(elapsed_ms: readonly number[]): string {
  const [first, worst] = [elapsed_ms[0]!, Math.max(...elapsed_ms)].map((ms) => ms.toFixed(0))
  const about = `the first ${first} ms, the worst ${worst} ms`
  return `${median(elapsed_ms).toFixed(0)} ms (median of ${rounds}, ${about})`
}
