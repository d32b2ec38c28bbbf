/** Checks the code itself: which folder may import which, what is banned, how long things get. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import ts from 'typescript'

/** Each folder, and the folders it may import. Read top to bottom, this is the architecture. */
const mayImport: Record<string, readonly string[]> = {
  domain: [],
  physics: [],
  forecast: ['domain', 'physics'],
  optimize: ['domain'],
  edge: ['domain'],
  simulator: ['domain', 'physics'],
  sdk: [],
  'server/storage': ['domain'],
  'server/threads': ['domain'],
  'server/http': ['domain', 'server/storage'],
  'server/records': ['domain', 'physics', 'server/storage', 'server/http'],
  'server/diagnostics': ['domain', 'physics'],
  'server/panels': ['domain', 'physics', 'server/storage'],
  'server/gaps': ['domain', 'physics', 'server/storage', 'server/records'],
  'server/rollups': [
    'domain',
    'physics',
    'server/storage',
    'server/diagnostics',
    'server/panels',
    'server/gaps',
  ],
  'server/prices': ['domain', 'server/storage'],
  'server/weather-forecasts': ['domain', 'physics', 'forecast', 'server/storage'],
  'server/earnings': ['domain', 'server/storage', 'server/prices'],
  'server/predictions': [
    'domain',
    'physics',
    'forecast',
    'server/storage',
    'server/threads',
    'server/records',
    'server/prices',
    'server/weather-forecasts',
    'server/earnings',
  ],
  'server/batteries': [
    'server/http',
    'domain',
    'optimize',
    'server/storage',
    'server/threads',
    'server/records',
    'server/prices',
    'server/predictions',
  ],
  'server/mail': ['domain', 'server/storage'],
  'server/maintenance': ['domain', 'server/storage', 'server/http'],
  'server/figures': [
    'domain',
    'physics',
    'server/storage',
    'server/http',
    'server/records',
    'server/diagnostics',
    'server/rollups',
    'server/prices',
    'server/earnings',
    'server/predictions',
    'server/batteries',
  ],
  'server/alerts': [
    'server/maintenance',
    'domain',
    'physics',
    'server/storage',
    'server/http',
    'server/mail',
    'server/records',
    'server/diagnostics',
    'server/gaps',
    'server/rollups',
    'server/prices',
    'server/earnings',
    'server/batteries',
  ],
  'server/reports': [
    'domain',
    'server/storage',
    'server/threads',
    'server/http',
    'server/records',
    'server/mail',
    'server/maintenance',
    'server/figures',
    'server/batteries',
    'server/earnings',
    'server/rollups',
  ],
  'server/features': [
    'server/maintenance',
    'server/reports',
    'server/mail',
    'server/alerts',
    'server/figures',
    'domain',
    'server/batteries',
    'physics',
    'forecast',
    'server/prices',
    'server/weather-forecasts',
    'server/earnings',
    'server/predictions',
    'server/storage',
    'server/http',
    'server/records',
    'server/diagnostics',
    'server/panels',
    'server/gaps',
    'server/rollups',
  ],
  'server/link': ['domain', 'server/storage'],
  'server/jobs': [
    'server/maintenance',
    'server/reports',
    'server/alerts',
    'domain',
    'server/storage',
    'server/http',
    'server/gaps',
    'server/prices',
    'server/weather-forecasts',
    'server/predictions',
    'server/batteries',
    'server/mail',
    'server/platform',
  ],
  'server/admin': [
    'server/alerts',
    'domain',
    'server/storage',
    'server/http',
    'server/panels',
    'server/prices',
    'server/earnings',
    'server/predictions',
    'server/mail',
  ],
  'server/platform': [
    'domain',
    'server/storage',
    'server/http',
    'server/admin',
    'server/mail',
    'server/reports',
  ],
  server: [
    'server/threads',
    'server/platform',
    'server/maintenance',
    'domain',
    'physics',
    'server/storage',
    'server/http',
    'server/records',
    'server/features',
    'server/link',
    'server/jobs',
    'server/reports',
    'server/admin',
    'server/diagnostics',
    'server/panels',
    'server/gaps',
    'server/alerts',
    'server/mail',
    'server/rollups',
    'server/figures',
    'server/prices',
    'server/weather-forecasts',
    'server/earnings',
    'server/predictions',
    'server/batteries',
  ],
  cli: ['sdk', 'server/admin', 'server/storage', 'server/platform', 'server/http', 'server'],
  web: ['sdk'],
}

/** Single files of a folder that another may import, and no other file of it. */
const mayImportFile: Record<string, readonly string[]> = {
  edge: ['physics/solar-position.ts'],
}

/** Folders of programs that only start, prove or measure: they may import everything. */
const outermost = ['scripts', 'test', 'bench']

const banned: readonly [pattern: RegExp, instead: string, except?: RegExp][] = [
  [
    /\bDate\.now\(|new Date\(\)/,
    'take the time from a Clock',
    /(^|\/)main\.ts$|domain\/clock\.ts$|sdk\/machine\.ts$|^web\//,
  ],
  [/\bMath\.random\(|\brandomUUID\(/, 'take randomness as a dependency', /(^|\/)main\.ts$/],
  [/\bprocess\.env\b/, 'read settings in config.ts', /(^|\/)config\.ts$/],
  [/\bas any\b|: any\b/, 'say the type, or unknown'],
  [/\bconsole\./, 'write to the log'],
  [/\b(FIXME|TODO|XXX)\b/, 'finish it before it lands'],
  [/biome-ignore(?! lint\/\S+: \S)/, 'name the rule and the reason'],
  [/@ts-(ignore|nocheck)/, 'mend the type'],
]

const bannedNames = /(^|\/)(utils?|helpers?|common|misc|types|(?<!^sdk\/)index)(\.ts|\/)/
/** Written by a program, in its own style. */
const generated = 'sdk/generated/'
const lines_max = 800
const columns_max = 100
const function_lines_max = 120

interface Source {
  path: string
  text: string
}

const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  // One that was moved away is listed until that is staged.
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith(generated) && existsSync(path))
const all: Source[] = tracked.map((path) => ({ path, text: readFileSync(path, 'utf8') }))
const isOutermost = ({ path }: Source) => outermost.some((folder) => path.startsWith(`${folder}/`))
const isTest = ({ path }: Source) => path.endsWith('.test.ts') || path.includes('/fixtures/')
const code = all.filter((source) => !isOutermost(source) && !isTest(source))

test('folders import only what they may', () => {
  assert.deepEqual(code.flatMap(forbiddenImports), [])
})

test('nothing banned is used', () => {
  const found = code.flatMap(({ path, text }) =>
    banned
      .filter(([pattern, , except]) => pattern.test(text) && !except?.test(path))
      .map(([pattern, instead]) => `${path}: ${pattern.source}: ${instead}`),
  )
  assert.deepEqual(found, [])
})

test('files are named after what they hold', () => {
  const badly = tracked.filter(
    (path) => bannedNames.test(path) || /[A-Z_]/.test(path.replace(/^.*\//, '')),
  )
  assert.deepEqual(badly, [])
})

test('no file, line or function is endless', () => {
  const long = all.flatMap(({ path, text }) => {
    const lines = text.split('\n')
    return [
      ...(lines.length - 1 > lines_max ? [`${path}: over ${lines_max} lines: split it`] : []),
      ...lines.flatMap((line, index) =>
        // Code is wrapped by the formatter, except for texts that it cannot break.
        line.length > columns_max && /^\s*(\*|\/[/*])/.test(line)
          ? [`${path}:${index + 1}: over ${columns_max} columns`]
          : [],
      ),
    ]
  })
  assert.deepEqual([...long, ...code.flatMap(longFunctions)], [])
})

test('every runtime dependency has its reason', () => {
  const reasons = readFileSync('docs/decisions/0006-dependencies.md', 'utf8')
  const packages = ['package.json', ...globSync('*/package.json')].filter(
    (path) => !path.startsWith('node_modules'),
  )
  const dependencies = packages.flatMap((path) => {
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(path, 'utf8'))
    return Object.keys({ ...dependencies, ...optionalDependencies })
  })
  const without = dependencies.filter(
    (name) => !name.startsWith('@heliograph/') && !reasons.includes(`\`${name}\``),
  )
  assert.deepEqual(without, [])
})

const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))

test('documents hold no version of a dependency, no line number, no path of a machine', () => {
  const bad = /\.ts:\d+|\/work\/|(?<![.\d])\d+\.\d+\.\d+(?![.\d])/g
  const found = documents.flatMap(({ path, text }) =>
    [...text.matchAll(bad)].map(([what]) => `${path}: ${what}`),
  )
  assert.deepEqual(found, [])
})

test('files that documents name are there', () => {
  const gone = documents.flatMap(({ path, text }) =>
    [
      ...[...text.matchAll(/`([a-z0-9-]+\/[a-z0-9/*.-]+)`/g)].map(([, name = '']) => name),
      ...[...text.matchAll(/\]\((?!http|#)([^)]+)\)/g)].map(([, name = '']) =>
        join(dirname(path), name),
      ),
    ]
      .filter((name) => !name.startsWith('data/') && globSync(name).length === 0)
      .map((name) => `${path}: ${name}`),
  )
  assert.deepEqual(gone, [])
})

test('what this file forbids is found', () => {
  const bad = (path: string, text: string) => forbiddenImports({ path, text })
  assert.deepEqual(bad('domain/bad.ts', "import { x } from '../server/http/serve.ts'"), [
    'domain/bad.ts may not import server/http',
  ])
  assert.deepEqual(bad('edge/bad.ts', "await import('@heliograph/physics/airmass')"), [
    'edge/bad.ts may not import physics',
  ])
  assert.deepEqual(bad('edge/good.ts', "import '@heliograph/physics/solar-position'"), [])
  assert.deepEqual(bad('edge/bad.ts', "import '@heliograph/physics/clear-sky'"), [
    'edge/bad.ts may not import physics',
  ])
  assert.deepEqual(bad('domain/bad.ts', "import { connect } from '@heliograph/sdk'"), [
    'domain/bad.ts may not import sdk',
  ])
  assert.deepEqual(bad('server/features/a/b.ts', "import '../c/store.ts'"), [
    'server/features/a/b.ts: a feature imports no other feature',
  ])
  assert.deepEqual(bad('server/features/a/b.ts', "import '../../http/params.ts'"), [])
  const text = `function long() {${'\n'.repeat(130)}}`
  assert.equal(longFunctions({ path: 'x.ts', text }).length, 1)
})

function forbiddenImports({ path, text }: Source): string[] {
  const from = folderOf(path)
  return specifiersIn(path, text).flatMap((specifier) => {
    if (!specifier.startsWith('.') && !specifier.startsWith('@heliograph/')) return []
    const target = specifier.startsWith('@heliograph/')
      ? specifier.replace('@heliograph/', '')
      : join(dirname(path), specifier)
    const to = folderOf(target)
    if (from === 'server/features' && to === from && chapterOf(path) !== chapterOf(target)) {
      return [`${path}: a feature imports no other feature`]
    }
    const file = `${target.replace(/\.ts$/, '')}.ts`
    const may = from === to || mayImport[from]?.includes(to) || mayImportFile[from]?.includes(file)
    return may ? [] : [`${path} may not import ${to}`]
  })
}

/** Static and dynamic imports, and exports from elsewhere. */
function specifiersIn(path: string, text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const specifier =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
          ? node.arguments[0]
          : undefined
    if (specifier && ts.isStringLiteral(specifier)) found.push(specifier.text)
    ts.forEachChild(node, visit)
  }
  visit(parse(path, text))
  return found
}

function longFunctions({ path, text }: Source): string[] {
  const source = parse(path, text)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const line = (position: number) => source.getLineAndCharacterOfPosition(position).line
      const length = line(node.getEnd()) - line(node.getStart(source)) + 1
      if (length > function_lines_max) {
        found.push(`${path}:${line(node.getStart(source)) + 1}: a function of ${length} lines`)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const parse = (path: string, text: string) =>
  ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)

/** The longest folder of the table that holds the path. */
function folderOf(path: string): string {
  const holders = Object.keys(mayImport).filter((folder) => `${path}/`.startsWith(`${folder}/`))
  return holders.sort((a, b) => b.length - a.length)[0] ?? dirname(path)
}

const chapterOf = (path: string) => path.split('/')[2]
