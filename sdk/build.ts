/**
 * Builds the published SDK into the given folder: ES modules, types and a package.json. Compiled
 * without the types of Node, so that it also runs in browsers.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(process.argv[2] ?? 'dist')
const source = import.meta.dirname
const compiler = join(source, '../node_modules/.bin/tsc')

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
execFileSync(compiler, ['-p', source, '--outDir', folder], { stdio: 'inherit' })
const {
  private: _,
  scripts,
  ...own
} = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
const published = {
  ...own,
  sideEffects: false,
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
}
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
cpSync(join(source, '../docs/sdk.md'), join(folder, 'README.md'))
cpSync(join(source, '../LICENSE'), join(folder, 'LICENSE'))
