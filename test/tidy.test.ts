/** Checks the code itself: which folder may import which, what is banned, how long things get. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import ts from 'typescript'
import { exportsIn, type Import, importsIn, parseSource } from '../scripts/imports.ts'

/** Each folder, and the folders it may import. Read top to bottom, this is the architecture. */
const mayImport: Record<string, readonly string[]> = {
  domain: [],
  physics: [],
  forecast: ['domain', 'physics'],
  optimize: ['domain'],
  edge: ['domain'],
  simulator: ['domain', 'physics'],
  sdk: [],
  server: ['domain', 'physics', 'forecast', 'optimize'],
  cli: ['sdk', 'domain', 'server'],
  web: ['sdk'],
}

/** Folders of the server: each may import those before it. Files of `server/` import all. */
const server_order = [
  // Infrastructure.
  'storage',
  'threads',
  'http',
  'mail',
  'jobs',
  'events',
  // Slices: each a concept of the field, with everything that belongs to it.
  'access',
  'plant',
  'telemetry',
  'performance',
  'markets',
  'contracts',
  'forecasts',
  'control',
  'batteries',
  'link',
  'earnings',
  'work',
  'alerts',
  'reports',
  'overview',
  'agents',
  'push',
  'doctor',
]

/** Single files of a folder that another may import, and no other file of it. */
const mayImportFile: Record<string, readonly string[]> = {
  // The sun tells the edge of the night, and a commissioning test what an irradiance may be.
  edge: ['physics/solar-position.ts', 'physics/clear-sky.ts'],
  // Gaps and alarms of batteries name the alert that reports them.
  'server/telemetry': ['server/alerts/gap-alerts.ts'],
  'server/batteries': ['server/alerts/battery-alerts.ts'],
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
  [/@ts-(ignore|nocheck)/, 'mend the type', /^sdk\/generate\.ts$/],
]

const bannedNames = /(^|\/)(utils?|helpers?|common|misc|types|(?<!^sdk\/)index)(\.ts|\/)/
/** Written by a program, in its own style. */
const generated = /^(sdk|web)\/generated\//
const columns_max = 100
const lines_max = 600
const function_lines_max = 100
/** Files and functions (`path: name`) that are longer, each with its reason. */
const longer: Record<string, string> = {
  'server/jobs.ts: createJobTable': 'the table of jobs',
}

interface Source {
  path: string
  text: string
  imports: readonly Import[]
  exports: readonly string[]
  long_functions: readonly string[]
  spread_literals: readonly string[]
}

/** Each file is parsed once. */
function sourceOf(path: string, text: string): Source {
  const tree = parseSource(path, text)
  return {
    path,
    text,
    imports: importsIn(tree),
    exports: exportsIn(tree),
    long_functions: longFunctions(tree),
    spread_literals: spreadLiterals(tree),
  }
}

const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  // One that was moved away is listed until that is staged.
  .filter((path) => /\.tsx?$/.test(path) && !generated.test(path) && existsSync(path))
const all: Source[] = tracked.map((path) => sourceOf(path, readFileSync(path, 'utf8')))
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
      ...(lines.length - 1 > lines_max && !longer[path]
        ? [`${path}: over ${lines_max} lines: split it, or give the reason above`]
        : []),
      ...lines.flatMap((line, index) =>
        // Code is wrapped by the formatter, except for texts that it cannot break.
        line.length > columns_max && /^\s*(\*|\/[/*])/.test(line)
          ? [`${path}:${index + 1}: over ${columns_max} columns`]
          : [],
      ),
    ]
  })
  assert.deepEqual([...long, ...code.flatMap(({ long_functions }) => long_functions)], [])
})

test('files import one another in no circle', () => {
  const imports = new Map(
    code.map(({ path, imports }) => {
      const loaded = imports.filter(({ is_dynamic }) => !is_dynamic)
      return [path, loaded.flatMap(fileOf(path))]
    }),
  )
  assert.deepEqual(circlesOf(imports), [])
})

test('every export is imported by another file', () => {
  const taken = new Map<string, Set<string>>()
  for (const { path, imports } of all) {
    for (const one of imports) {
      for (const file of fileOf(path)(one)) {
        const names = taken.get(file) ?? new Set<string>()
        for (const name of one.names === 'all' ? sourceAt.get(file)!.exports : one.names)
          names.add(name)
        taken.set(file, names)
      }
    }
  }
  const unused = code
    .filter(({ path }) => !path.startsWith('sdk/'))
    .flatMap(({ path, exports }) =>
      exports
        .filter((name) => !taken.get(path)?.has(name))
        .map((name) => `${path}: ${name} is used in no other file: do not export it`),
    )
  assert.deepEqual(unused, [])
})

test('no literal is spread into another', () => {
  assert.deepEqual(
    all.flatMap(({ spread_literals }) => spread_literals),
    [],
  )
  const spread = (text: string) => sourceOf('x.tsx', text).spread_literals.length
  assert.equal(spread('f({ ...{ a, b }, c })') + spread('f([...[a, b], c])'), 2)
  assert.equal(spread('<A {...{ a, b }} c />'), 1)
  assert.equal(spread('f({ ...a, ...(b && { c }) }, [...d], <A {...e} />)'), 0)
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
  const bad = /\.ts:\d+|(?<!server)\/work\/|(?<![.\d])\d+\.\d+\.\d+(?![.\d])/g
  const release = /^## \d+\.\d+\.\d+ /gm
  const found = documents.flatMap(({ path, text }) =>
    [...text.replaceAll(release, '').matchAll(bad)].map(([what]) => `${path}: ${what}`),
  )
  assert.deepEqual(found, [])
})

test('files and chapters that documents name are there', () => {
  const missing = documents.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/`([a-z0-9-]+\/[a-z0-9/*.-]+)`/g)].map(([, name = '']) => name)
    const links = [...text.matchAll(/\]\((?!http)([^)#]*)(?:#([^)]+))?\)/g)].map(
      ([, target = '', chapter]) => ({
        target: target === '' ? path : join(dirname(path), target),
        chapter,
      }),
    )
    const files = [...names, ...links.map(({ target }) => target)].filter(
      (name) => !name.startsWith('data/') && globSync(name).length === 0,
    )
    const chapters = links
      .filter(({ target, chapter }) => chapter && !chaptersOf(target).includes(chapter))
      .map(({ target, chapter }) => `${target}#${chapter}`)
    return [...files, ...chapters].map((name) => `${path}: ${name}`)
  })
  assert.deepEqual(missing, [])
})

/** The anchors that GitHub gives to the headings of a document. */
function chaptersOf(path: string): string[] {
  const { text = '' } = documents.find((document) => document.path === path) ?? {}
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('what this file forbids is found', () => {
  const bad = (path: string, text: string) => forbiddenImports(sourceOf(path, text))
  assert.deepEqual(bad('domain/bad.ts', "import { x } from '../server/http/serve.ts'"), [
    'domain/bad.ts may not import server/http',
  ])
  assert.deepEqual(bad('edge/bad.ts', "await import('@heliograph/physics/airmass')"), [
    'edge/bad.ts may not import physics',
  ])
  assert.deepEqual(bad('edge/good.ts', "import '@heliograph/physics/solar-position'"), [])
  assert.deepEqual(bad('edge/bad.ts', "import '@heliograph/physics/turbidity'"), [
    'edge/bad.ts may not import physics',
  ])
  assert.deepEqual(bad('domain/bad.ts', "import { connect } from '@heliograph/sdk'"), [
    'domain/bad.ts may not import sdk',
  ])
  assert.deepEqual(bad('server/plant/b.ts', "import '../alerts/store.ts'"), [
    'server/plant/b.ts may not import server/alerts',
  ])
  assert.deepEqual(bad('server/alerts/b.ts', "import '../plant/store.ts'"), [])
  assert.deepEqual(bad('server/http/b.ts', "import '../main.ts'"), [
    'server/http/b.ts may not import server',
  ])
  const text = `function long() {${'\n'.repeat(130)}}`
  assert.equal(sourceOf('x.ts', text).long_functions.length, 1)
})

const sourceAt = new Map(all.map((source) => [source.path, source]))

/** The file of the project that an import names; none for packages. */
const fileOf =
  (from: string) =>
  ({ specifier }: Import): string[] => {
    const target = specifier.startsWith('@heliograph/')
      ? specifier.replace('@heliograph/', '')
      : specifier.startsWith('.')
        ? join(dirname(from), specifier)
        : null
    if (target === null) return []
    return [target, `${target}.ts`].filter((file) => sourceAt.has(file)).slice(0, 1)
  }

/** Sets of files each of which reaches every other (Tarjan's strongly connected components). */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    lowest.set(file, order.get(file)!)
    stack.push(file)
    for (const next of imports.get(file) ?? []) {
      if (!order.has(next)) visit(next)
      if (stack.includes(next)) {
        lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!))
      }
    }
    if (lowest.get(file) !== order.get(file)) return
    const circle = stack.splice(stack.indexOf(file))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return circles
}

/** Properties or elements belong into the literal itself, each on its line. */
function spreadLiterals(source: ts.SourceFile): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const spreads_properties = ts.isSpreadAssignment(node) || ts.isJsxSpreadAttribute(node)
    if (
      (spreads_properties && ts.isObjectLiteralExpression(node.expression)) ||
      (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression))
    ) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
      found.push(`${source.fileName}:${line + 1}: write the properties out`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function forbiddenImports({ path, imports }: Source): string[] {
  const from = folderOf(path)
  return imports.flatMap(({ specifier }) => {
    if (!specifier.startsWith('.') && !specifier.startsWith('@heliograph/')) return []
    const target = specifier.startsWith('@heliograph/')
      ? specifier.replace('@heliograph/', '')
      : join(dirname(path), specifier)
    const to = folderOf(target)
    const file = `${target.replace(/\.ts$/, '')}.ts`
    return isAllowed(from, to) || mayImportFile[from]?.includes(file)
      ? []
      : [`${path} may not import ${to}`]
  })
}

function isAllowed(from: string, to: string): boolean {
  if (from === to) return true
  const [from_program = '', from_slice] = from.split('/')
  const [to_program = '', to_slice] = to.split('/')
  if (from_program !== to_program) return mayImport[from_program]?.includes(to_program) ?? false
  // Files of the server itself wire its folders.
  if (!from_slice) return true
  return to_slice !== undefined && server_order.indexOf(to_slice) < server_order.indexOf(from_slice)
}

function longFunctions(source: ts.SourceFile): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const line = (position: number) => source.getLineAndCharacterOfPosition(position).line
      const length = line(node.getEnd()) - line(node.getStart(source)) + 1
      const { name } = ts.isVariableDeclaration(node.parent) ? node.parent : node
      const place = `${source.fileName}: ${name?.getText(source) ?? line(node.getStart(source)) + 1}`
      if (length > function_lines_max && !longer[place]) {
        found.push(`${place} is a function of ${length} lines`)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** `server/<folder>` within the server, else the program. */
function folderOf(path: string): string {
  const [program = '', folder = ''] = path.split('/')
  return program === 'server' && server_order.includes(folder) ? `server/${folder}` : program
}
