import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { models } from './models.ts'
import { fixedLength, type Model, sizeOf } from './point.ts'

const reference = fileURLToPath(
  new URL('../../../shared/data/sunspec_points.json', import.meta.url),
)
const all = Object.values(models) as Model[]

interface ReferencePoint {
  off: number
  path: string
  type: string
  size: number
  sf?: string | number
  units?: string
  rep?: number | string
}

test('points fill their model and their group without holes or overlaps', () => {
  for (const { id, points, group } of all) {
    let next = 2
    for (const [name, offset, type] of points) {
      assert.equal(offset, next, `${id}.${name}`)
      next += sizeOf(type)
    }
    next = 0
    for (const [name, offset, type] of group?.points ?? []) {
      assert.equal(offset, next, `${id}.${group?.name}.${name}`)
      next += sizeOf(type)
    }
    assert.equal(next, group?.length ?? 0, `${id}.${group?.name}`)
  }
})

test('every scale factor and count is a point of the fixed block or a number', () => {
  for (const { id, points, group } of all) {
    const names = points.map(([name]) => name)
    for (const [name, , , , scale] of [...points, ...(group?.points ?? [])]) {
      assert.ok(typeof scale !== 'string' || names.includes(scale), `${id}.${name}: ${scale}`)
    }
    assert.ok(!group?.count || names.includes(group.count), `${id}: ${group?.count}`)
  }
})

test('a model is listed under its own id', () => {
  for (const [id, model] of Object.entries(models)) assert.equal(model.id, Number(id))
})

test('the tables agree with the published definitions', (t) => {
  if (!existsSync(reference)) return t.skip(`the flattened definitions are not at ${reference}`)
  const published = JSON.parse(readFileSync(reference, 'utf8')).models as Record<
    string,
    { points: ReferencePoint[] }
  >
  // 214 is laid out as 213; the published unit of WAval is a slip (var for an active power).
  const notPublished = ['214']
  const ownUnits = new Map([['122.WAval', 'W']])
  for (const model of all) {
    const { points } = published[model.id] ?? { points: null }
    if (!points) {
      assert.ok(notPublished.includes(String(model.id)), `${model.id} is not published`)
      continue
    }
    const expected = points
      .filter(({ path }) => path !== 'ID' && path !== 'L')
      .map(({ off, path, type, size, sf, units }) => {
        const unit = ownUnits.get(`${model.id}.${path}`) ?? units ?? ''
        return [path, off, type === 'string' ? `string${size}` : type, unit, sf ?? null]
      })
    assert.deepEqual(flatten(model), expected, `model ${model.id}`)
  }
})

/** Points in the form of the reference: groups by path, at the offset of their first repetition. */
function flatten(model: Model) {
  const { points, group } = model
  const fixed = points.map(([name, offset, type, unit, scale]) => [
    name,
    offset,
    type,
    unit ?? '',
    scale ?? null,
  ])
  const repeated = (group?.points ?? []).map(([name, offset, type, unit, scale]) => [
    `${group?.name}.${name}`,
    fixedLength(model) + offset,
    type,
    unit ?? '',
    scale ?? null,
  ])
  return [...fixed, ...repeated]
}
