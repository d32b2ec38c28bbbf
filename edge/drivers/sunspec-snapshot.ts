/** Reads models of a chain in as few requests as their lengths allow. */

import { type Decoded, decode } from '@heliograph/domain/sunspec/codec'
import { isKnownModel, type ModelId, models } from '@heliograph/domain/sunspec/models'
import { fixedLength, type Model, type Point, sizeOf } from '@heliograph/domain/sunspec/point'
import { registers_per_request_max } from '../bus/bus.ts'
import type { Bus, Complaint } from './driver.ts'
import { createPartialReader } from './partial-reader.ts'

/** A model of a device's chain. Models repeat; `occurrence` counts equal ids from 0. */
export interface FoundModel {
  model_id: number
  occurrence: number
  /** Address of its ID register; its length L counts the registers after ID and L. */
  address: number
  length: number
}

/** Decoded models of one reading, with the complaints about them. */
export interface Snapshot {
  all<Id extends ModelId>(...ids: Id[]): Decoded<(typeof models)[Id]>[]
  complaints: Complaint[]
  /** Names of refused points; neighbours as one. */
  missing: readonly string[]
}

/** The chain changed: the device was replaced, updated or set up anew. */
export class ChainMoved extends Error {}

/** Registers of one model in one request. */
interface Piece {
  found: FoundModel
  offset: number
  count: number
}

interface Request {
  address: number
  count: number
  pieces: readonly Piece[]
}

/** Maximum repetitions; a longer length is not worth the requests. */
const groups_max = 256

const blank_registers_min = 10

/** Part of a model without repeating groups; nothing outside is read. */
interface Part {
  /** First point; absent: from the head on, which shows that the model is still there. */
  first?: string
  last: string
  /** Points to decode; absent: all. */
  used?: readonly string[]
}

export type Parts = Partial<Record<ModelId, Part>>

const parts_always: Parts = {
  201: { last: 'TotWh_SF' },
  202: { last: 'TotWh_SF' },
  203: { last: 'TotWh_SF' },
  204: { last: 'TotWh_SF' },
  211: { last: 'TotWhImpPhC' },
  212: { last: 'TotWhImpPhC' },
  213: { last: 'TotWhImpPhC' },
  214: { last: 'TotWhImpPhC' },
  701: { last: 'Tmp_SF' },
}

/**
 * Reads these models of one device at each call. Remembers whether the device allows requests
 * across models, and which registers it declares but does not serve.
 */
export function createReader(
  bus: Bus,
  unit_id: number,
  { wanted, parts: more = {} }: { wanted: readonly FoundModel[]; parts?: Parts },
) {
  const parts = { ...parts_always, ...more }
  const pieces = wanted.flatMap((found) => piecesOf(found, partOf(found, parts)))
  const shapes = new Map(wanted.map((found) => [found, shapeOf(found, partOf(found, parts))]))
  const read = createPartialReader(merge(pieces), {
    ask: ({ address, count }) => bus.readHoldingRegisters(unit_id, address, count),
    partsOf: (request) => partsOf(request, shapes),
  })

  return async (): Promise<Snapshot> => {
    const { answers, refused } = await read()
    const images = new Map(wanted.map((found) => [found, emptyImage(found, partOf(found, parts))]))
    for (const [request, registers] of answers) {
      for (const { found, offset, count } of request.pieces) {
        const start = found.address + offset - request.address
        images.get(found)?.set(registers.subarray(start, start + count), offset)
      }
    }
    for (const [{ model_id, length, address }, image] of images) {
      if (image[0] === model_id && image[1] === length) continue
      throw new ChainMoved(`model ${model_id} is no longer at ${address}`)
    }
    const served = answers.flatMap(([request]) => request.pieces)
    const moved = await movedScales({ bus, unit_id }, { images, served, shapes })
    const missing = missingIn(refused.flatMap((request) => request.pieces))
    const names = missingNames(missing, shapes)
    return { ...snapshotOf(images, { moved, shapes, missing }), missing: names }
  }
}

/** Splits models first, then one model in halves between its points. */
function partsOf(request: Request, shapes: Shapes): Request[] {
  const [piece, ...others] = request.pieces
  if (!piece || others.length > 0) return request.pieces.map((one) => requestOf([one]))
  const spans = spansOf(piece, shapes.get(piece.found)!)
  if (spans.length < 2) return [request]
  const half = Math.ceil(spans.length / 2)
  return [spans.slice(0, half), spans.slice(half)].map((of) => {
    const offset = of[0]!.from
    return requestOf([{ found: piece.found, offset, count: of.at(-1)!.end - offset }])
  })
}

/** Registers of one value, from `from` to before `end`, by offset in the model. */
interface Span {
  name: string
  from: number
  end: number
}

/** The values in these registers of a model; ID and L are one. */
function spansOf({ offset, count }: Piece, { points, group, ...model }: Model): Span[] {
  const spanOf = ([name, at, type]: Point, start = 0, prefix = ''): Span => {
    const from = start + at
    return { name: `${model.id}.${prefix}${name}`, from, end: from + sizeOf(type) }
  }
  const spans = [{ name: `${model.id}.ID`, from: 0, end: 2 }, ...points.map((one) => spanOf(one))]
  const fixed = fixedLength({ ...model, points })
  const repeated = group ? Math.ceil((offset + count - fixed) / group.length) : 0
  for (let nth = 0; group && nth < repeated; nth += 1) {
    const start = fixed + nth * group.length
    spans.push(...group.points.map((one) => spanOf(one, start, `${group.name}[${nth}].`)))
  }
  return spans
    .filter(({ from, end }) => from >= offset && end <= offset + count)
    .toSorted((a, b) => a.from - b.from)
}

type Missing = ReadonlyMap<FoundModel, ReadonlySet<number>>
const none: ReadonlySet<number> = new Set()

function missingIn(pieces: readonly Piece[]): Missing {
  const missing = new Map<FoundModel, Set<number>>()
  for (const { found, offset, count } of pieces) {
    const offsets = missing.get(found) ?? new Set()
    for (let at = offset; at < offset + count; at += 1) offsets.add(at)
    missing.set(found, offsets)
  }
  return missing
}

/** Neighbours as one, by the first and the last of them. */
function missingNames(missing: Missing, shapes: Shapes): string[] {
  return [...missing].flatMap(([found, offsets]) => {
    const runs: Span[][] = []
    for (const span of spansOf({ found, offset: 0, count: found.length + 2 }, shapes.get(found)!)) {
      if (!offsets.has(span.from)) continue
      const last = runs.at(-1)
      if (last?.at(-1)?.end === span.from) last.push(span)
      else runs.push([span])
    }
    return runs.map((run) => [...new Set([run[0]!.name, run.at(-1)!.name])].join(' to '))
  })
}

const partOf = ({ model_id }: FoundModel, parts: Parts): Part | null =>
  parts[model_id as ModelId] ?? null

function shapeOf({ model_id }: FoundModel, part: Part | null): Model {
  const model: Model = models[model_id as ModelId]
  const used = part?.used
  return used ? { ...model, points: model.points.filter(([name]) => used.includes(name)) } : model
}

/** All points "not implemented"; the head is filled in for a model read from a later point. */
function emptyImage(found: FoundModel, part: Part | null): Uint16Array {
  const image = new Uint16Array(neededLength(found, part)).fill(0xffff)
  if (part?.first !== undefined) image.set([found.model_id, found.length].slice(0, image.length))
  return image
}

/**
 * Models read in several requests whose scale factors changed in between: their values are invalid.
 */
async function movedScales(
  { bus, unit_id }: { bus: Bus; unit_id: number },
  { images, served, shapes }: { images: Images; served: readonly Piece[]; shapes: Shapes },
) {
  const moved: FoundModel[] = []
  for (const [found, image] of images) {
    const pieces = served.filter((piece) => piece.found === found)
    if (pieces.length < 2) continue
    const scales = shapes.get(found)!.points.filter(([, , type]) => type === 'sunssf')
    for (const { offset, count } of pieces) {
      const within = scales.map(([, at]) => at).filter((at) => at >= offset && at < offset + count)
      if (within.length === 0) continue
      const length = Math.max(...within) + 1 - offset
      const again = await bus.readHoldingRegisters(unit_id, found.address + offset, length)
      if (within.some((at) => again[at - offset] !== image[at])) moved.push(found)
    }
  }
  return moved
}

type Images = ReadonlyMap<FoundModel, Uint16Array>
type Shapes = ReadonlyMap<FoundModel, Model>

function snapshotOf(
  images: Images,
  { moved, shapes, missing }: { moved: readonly FoundModel[]; shapes: Shapes; missing: Missing },
): Omit<Snapshot, 'missing'> {
  const known = new Map<FoundModel, Decoded<Model>>()
  const complaints: Complaint[] = moved.map(({ model_id }) => ({
    point: `${model_id}`,
    reason: 'its scale factors changed while it was read',
  }))
  /** Complains on the first call. */
  function decoded(found: FoundModel, image: Uint16Array): Decoded<Model> {
    const before = known.get(found)
    if (before) return before
    const point = `${found.model_id}`
    const absent = missing.get(found) ?? none
    const is_blank = isBlank(image.filter((_, offset) => !absent.has(offset)))
    if (is_blank) complaints.push({ point, reason: 'all its bits are set' })
    // No registers, so that every point is absent.
    const answer = decode(shapes.get(found)!, is_blank ? image.subarray(0, 2) : image, absent)
    complaints.push(...answer.complaints)
    if (answer.broken !== null) complaints.push({ point, reason: answer.broken })
    known.set(found, answer)
    return answer
  }
  return {
    complaints,
    all<Id extends ModelId>(...ids: Id[]) {
      const asked = [...images].filter(
        ([found]) => !moved.includes(found) && ids.includes(found.model_id as Id),
      )
      return asked.map(([found, image]) => decoded(found, image)) as unknown as Decoded<
        (typeof models)[Id]
      >[]
    },
  }
}

/**
 * All ones, as a bus or gateway without a device may answer; decoded it would be -1 with a scale
 * factor of -1. In a short model it may be a true -0.1.
 */
function isBlank(image: Uint16Array): boolean {
  const body = image.subarray(2)
  return body.length >= blank_registers_min && body.every((word) => word === 0xffff)
}

/** The registers from ID to the last one needed, within the length of the device. */
function neededLength({ model_id, length }: FoundModel, part: Part | null): number {
  if (!isKnownModel(model_id)) return 2
  const model: Model = models[model_id]
  const last = model.points.find(([name]) => name === part?.last)
  if (last) return Math.min(length + 2, last[1] + sizeOf(last[2]))
  return Math.min(length + 2, fixedLength(model) + groups_max * (model.group?.length ?? 0))
}

/** Splits a model that is too long for one request between its groups, so that no value is torn. */
function piecesOf(found: FoundModel, part: Part | null): Piece[] {
  const length = neededLength(found, part)
  const { group, ...model }: Model = models[found.model_id as ModelId]
  const step = group?.length ?? 1
  const pieces: Piece[] = []
  const first = model.points.find(([name]) => name === part?.first)
  let offset = first?.[1] ?? 0
  while (offset < length) {
    const fixed = offset === 0 ? fixedLength(model) : 0
    const repeated = Math.floor((registers_per_request_max - fixed) / step) * step
    const count = Math.min(fixed + repeated, length - offset)
    pieces.push({ found, offset, count })
    offset += count
  }
  return pieces
}

/** Joins neighbours into requests of maximum length, including the registers between them. */
function merge(pieces: readonly Piece[]) {
  const sorted = pieces.toSorted((a, b) => addressOf(a) - addressOf(b))
  const joined: Piece[][] = []
  for (const piece of sorted) {
    const last = joined.at(-1)
    if (last && requestOf([...last, piece]).count <= registers_per_request_max) last.push(piece)
    else joined.push([piece])
  }
  return joined.map(requestOf)
}

function requestOf(pieces: readonly Piece[]): Request {
  const address = Math.min(...pieces.map(addressOf))
  const end = Math.max(...pieces.map((piece) => addressOf(piece) + piece.count))
  return { address, count: end - address, pieces }
}

function addressOf({ found, offset }: Piece): number {
  return found.address + offset
}
