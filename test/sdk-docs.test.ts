/** Every example in README.md and docs/sdk.md compiles, and runs on the API itself. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { systemClock } from '@heliograph/domain/clock'
import ts from 'typescript'
import { madeReport, sdkSite } from './sdk-site.ts'

const root = join(import.meta.dirname, '..')
const address = 'http://127.0.0.1:8080'
const blocksOf = (document: string) => {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
}
const readme = blocksOf('README.md')
const blocks = [...readme, ...blocksOf('docs/sdk.md')]

/** What the examples say, at the beginnings of lines. */
const expected = [
  'Demo Park: 89 kW',
  'title: must',
  'once: true',
  'WO-',
  '90 rows with power in a week',
  '[ [ null, null ] ]',
]

/** What the page says that every example has, unless it makes its own. */
const prelude = `import { connect as connected } from '@heliograph/sdk'
const heliograph = connected({
  base_url: '${address}', api_key: process.env['HELIOGRAPH_KEY'],
})
const site_id: string = 'demo'
`

const programs = blocks.map(
  (code) => `${code.includes('const heliograph =') ? '' : prelude}${code}\nexport {}\n`,
)

test('there are examples of everything', () => {
  const used = [
    'connect',
    'isCode',
    'etagOf',
    'everyItem',
    'everyByCursor',
    'everyWindow',
    '.file(',
    'signal',
  ]
  assert.equal(readme.length, 1)
  assert.ok(blocks.length > 10)
  assert.deepEqual(
    used.filter((name) => !blocks.some((code) => code.includes(name))),
    [],
  )
})

test('the examples compile', () => {
  const { options } = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (problem) => assert.fail(String(problem.messageText)),
    },
  )!
  // Beside the tests as far as the compiler knows, so that imports are found.
  const files = new Map(
    programs.map((code, index) => [join(root, 'test', `sdk-example-${index}.ts`), code]),
  )
  const lax = { ...options, noUnusedLocals: false }
  const host = ts.createCompilerHost(lax)
  const { readFile, fileExists, getSourceFile } = host
  host.readFile = (path) => files.get(path) ?? readFile(path)
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.getSourceFile = (path, target, ...rest) => {
    const code = files.get(path)
    return code === undefined
      ? getSourceFile(path, target, ...rest)
      : ts.createSourceFile(path, code, target)
  }
  const program = ts.createProgram([...files.keys()], lax, host)
  const problems = [...files.keys()].flatMap((path) => {
    const source = program.getSourceFile(path)
    const found = [
      ...program.getSemanticDiagnostics(source),
      ...program.getSyntacticDiagnostics(source),
    ]
    return found.map(
      ({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
  })
  assert.deepEqual(problems, [])
})

test('the examples run', async (t) => {
  const site = await sdkSite(systemClock.now(), 90)
  const folder = mkdtempSync(join(tmpdir(), 'sdk-docs-'))
  t.after(async () => {
    rmSync(folder, { recursive: true })
    await site.close()
  })
  await madeReport(site)
  const sdk = pathToFileURL(join(root, 'sdk/index.ts')).href
  const paths = programs.map((code, index) => {
    const path = join(folder, `example-${index}.ts`)
    writeFileSync(path, code.replaceAll('@heliograph/sdk', sdk).replaceAll(address, site.base_url))
    return path
  })
  const imports = paths.map((path) => `await import(${JSON.stringify(pathToFileURL(path).href)})`)
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', imports.join('\n')],
    { cwd: folder, env: { ...process.env, HELIOGRAPH_KEY: site.api_key, TMPDIR: folder } },
  )
  assert.equal(stderr, '')
  const lines = stdout.split('\n')
  for (const said of expected) {
    assert.ok(
      lines.some((line) => line.startsWith(said)),
      `${said} is not in:\n${stdout}`,
    )
  }
})
