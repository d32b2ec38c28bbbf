/** The SDK as it is published: JavaScript that any Node runs, and types that others can use. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { sdkSite } from './sdk-site.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

const program = `
import { connect, isCode } from '@heliograph/sdk'
const heliograph = connect({ base_url: process.argv[2], api_key: process.argv[3] })
const { data } = await heliograph.sitesList()
const failed = await heliograph.overviewGet({ site_id: 'other' }).catch((error) => error)
console.log(data[0].site_id, isCode(failed, 'not_found'))
`

const typed = `
import { connect, type Overview, type InverterReading } from '@heliograph/sdk'
const heliograph = connect({ api_key: 'key', base_url: 'https://api.test' })
export const overview: Promise<Overview> = heliograph.overviewGet({ site_id: 'demo' })
export const rows = async (): Promise<InverterReading[]> =>
  (await heliograph.invertersHistoryList({ site_id: 'demo', inverter_id: 1, start: new Date() })).data
// @ts-expect-error: site_id is missing
void heliograph.overviewGet({})
`

test('every generated file runs as it is', async () => {
  const paths = globSync('sdk/generated/**/*.ts', { cwd: root })
  assert.ok(paths.length > 10)
  for (const path of paths) await import(join(root, path))
})

test('the published form runs without type stripping, with its types, and needs nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sdk-published-'))
  const site = await sdkSite(new Date('2026-06-21T10:00:00Z'), 1)
  t.after(async () => {
    rmSync(folder, { recursive: true })
    await site.close()
  })
  const published = join(folder, 'node_modules/@heliograph/sdk')
  mkdirSync(published, { recursive: true })
  await run(process.execPath, [join(root, 'sdk/build.ts'), published])

  const files = globSync('**/*.{js,d.ts}', { cwd: published })
  assert.ok(files.length > 20)
  const imported = files.flatMap((file) =>
    [...readFileSync(join(published, file), 'utf8').matchAll(/^(?:im|ex)port .* from '([^']+)'/gm)]
      .map(([, from = '']) => from)
      .filter((from) => !from.startsWith('.')),
  )
  assert.deepEqual(imported, [], 'no other package, no module of Node')
  const { dependencies, exports } = JSON.parse(
    readFileSync(join(published, 'package.json'), 'utf8'),
  )
  assert.equal(dependencies, undefined)
  assert.deepEqual(exports, { '.': { types: './index.d.ts', default: './index.js' } })

  writeFileSync(join(folder, 'main.mjs'), program)
  const plain = ['--no-strip-types', 'main.mjs', site.base_url, site.api_key]
  const { stdout } = await run(process.execPath, plain, { cwd: folder })
  assert.equal(stdout, 'demo true\n')

  writeFileSync(join(folder, 'main.mts'), typed)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom'],
    types: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const args = [join(root, 'node_modules/typescript/lib/tsc.js'), '-p', folder]
  await run(process.execPath, args, { cwd: folder }).catch((error) => assert.fail(error.stdout))
})
