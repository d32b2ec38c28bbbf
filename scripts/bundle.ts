/**
 * Bundles a program for a package: its code in one folder, and beside it the files that it reads
 * and the npm packages that have files of their own.
 */
import { cpSync, existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '..')

export interface Program {
  /** Where the code goes, below the folder of the package. */
  folder: string
  /** Files that are run, by the name that they get. */
  entries: Readonly<Record<string, string>>
  /** Files and folders that the programs read, and where they look for them. */
  files: Readonly<Record<string, string>>
  /** npm packages that read files of their own, or load native code. */
  unbundled: readonly string[]
}

/** An npm package whose code is in the bundle. */
export interface Used {
  name: string
  version: string
  license: string
  folder: string
}

/** Writes the bundle to `target`, and returns the npm packages in it. */
export async function bundle(program: Program, target: string): Promise<Used[]> {
  const { folder, entries, files, unbundled } = program
  const builder = await rolldown({
    cwd: root,
    platform: 'node',
    input: { ...entries },
    external: unbundled.map((name) => new RegExp(`^${name}(/|$)`)),
    plugins: [startedByName(entries)],
  })
  const { output } = await builder.write({ dir: join(target, folder), format: 'esm' })
  await builder.close()
  for (const [from, to] of Object.entries(files)) {
    cpSync(join(root, from), join(target, to), { recursive: true })
  }
  const copied = unbundled.flatMap((name) => withDependencies(join(root, 'package.json'), name))
  for (const from of new Set(copied)) {
    cpSync(from, join(target, 'app', relative(root, from)), { recursive: true, filter: isNeeded })
  }
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  const folders = new Set(
    [...modules.map(packageFolderOf), ...copied].filter((dir) => dir !== null),
  )
  return [...folders].map(usedIn).sort((a, b) => (a.folder < b.folder ? -1 : 1))
}

/** Threads are started by the file of their program, which has another name in the bundle. */
function startedByName(entries: Program['entries']): Plugin {
  const names = new Map(Object.entries(entries).map(([name, file]) => [join(root, file), name]))
  return {
    name: 'started-by-name',
    transform(code, id) {
      return code.replace(/new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/g, (_, file) => {
        const name = names.get(join(dirname(id), file))
        if (name === undefined) throw new Error(`${id} starts ${file}, which is no entry`)
        return `new URL('./${name}.js', import.meta.url)`
      })
    },
  }
}

/** Builds for browsers and source maps, which make most of some packages. */
const isNeeded = (path: string) =>
  !/\.map$|\/pdfmake\/build$|\/pdfkit\/js\/pdfkit\.(es5|standalone)|\/fontkit\/dist\/browser/.test(
    path,
  )

/** Folders of an npm package and of all that it depends on. */
function withDependencies(from: string, name: string, seen = new Set<string>()): string[] {
  const folder = folderOf(from, name)
  if (seen.has(folder)) return []
  seen.add(folder)
  const { dependencies = {} } = manifestOf(folder)
  return [
    folder,
    ...Object.keys(dependencies).flatMap((each) =>
      withDependencies(join(folder, 'package.json'), each, seen),
    ),
  ]
}

function folderOf(from: string, name: string): string {
  for (let dir = dirname(from); ; dir = dirname(dir)) {
    const folder = join(dir, 'node_modules', name)
    if (existsSync(folder)) return folder
    if (dir === dirname(dir)) throw new Error(`${name} is not installed: npm ci`)
  }
}

function packageFolderOf(module: string): string | null {
  const found = /^.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(module)
  return found && realpathSync(found[0])
}

function usedIn(folder: string): Used {
  const { name, version, license } = manifestOf(folder)
  return { name, version, license, folder }
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
