/** The package alone: what it imports, and the examples of its README from a compiled copy. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = import.meta.dirname
const sources = globSync('*.ts', { cwd: here }).filter((name) => !name.endsWith('.test.ts'))

test('the package imports nothing but its own files', () => {
  for (const name of sources) {
    const text = readFileSync(join(here, name), 'utf8')
    for (const [, from = ''] of text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)) {
      assert.ok(from.startsWith('./') && sources.includes(from.slice(2)), `${name}: ${from}`)
    }
    assert.doesNotMatch(text, /\bprocess\.|\bBuffer\b|\brequire\(/, name)
  }
})

const tsc = new URL('bin/tsc', import.meta.resolve('@typescript/native/package.json'))
const settings = {
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
}

/** Runs the compiler; what it has to say is in the error. */
function compile(project: string, files: readonly string[], options: object): void {
  const content = { compilerOptions: { ...settings, ...options }, files }
  writeFileSync(project, JSON.stringify(content))
  execFileSync(process.execPath, [fileURLToPath(tsc), '-p', project], { encoding: 'utf8' })
}

/** As it would be published: JavaScript and declarations, since no Node strips types there. */
function publish(directory: string): void {
  const target = join(directory, 'node_modules/@heliograph/physics')
  mkdirSync(target, { recursive: true })
  compile(
    join(directory, 'package.tsconfig.json'),
    sources.map((name) => join(here, name)),
    { rewriteRelativeImportExtensions: true, declaration: true, rootDir: here, outDir: target },
  )
  const { name, type } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  const manifest = { name, type, exports: { './*': './*.js' } }
  writeFileSync(join(target, 'package.json'), JSON.stringify(manifest))
}

test('the examples of the README print their results, from a compiled copy', () => {
  const readme = readFileSync(join(here, 'README.md'), 'utf8')
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)
  assert.equal(examples.length, 3)
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-physics-'))
  try {
    publish(directory)
    const paths = examples.map((example, i) => {
      const path = join(directory, `example-${i}.mts`)
      writeFileSync(path, example)
      return path
    })
    const checked = { noEmit: true, lib: ['es2024', 'dom'] }
    compile(join(directory, 'examples.tsconfig.json'), paths, checked)
    for (const [i, path] of paths.entries()) {
      const printed = execFileSync(process.execPath, [path], { encoding: 'utf8' })
      const promised = [...examples[i]!.matchAll(/console\.log\(.*\) \/\/ (.*)/g)]
      assert.ok(promised.length > 0)
      assert.deepEqual(
        printed.trim().split('\n'),
        promised.map(([, text]) => text),
      )
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
})
