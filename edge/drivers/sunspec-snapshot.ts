/** Reads models of a chain in as few requests as their lengths allow. */

import { type Decoded, decode } from '@heliograph/domain/sunspec/codec'
import { isKnownModel, type ModelId, models } from '@heliograph/domain/sunspec/models'
import { fixedLength, type Model, sizeOf } from '@heliograph/domain/sunspec/point'
import { registers_per_request_max } from '../bus/bus.ts'
import { isRefusal } from '../bus/bus-error.ts'
import type { Bus, Complaint } from './driver.ts'
import type { FoundModel } from './sunspec-chain.ts'

/** Decoded models of one reading. What was wrong with them gathers in `complaints`. */
export interface Snapshot {
  all<Id extends ModelId>(...ids: Id[]): Decoded<(typeof models)[Id]>[]
  complaints: Complaint[]
}

/** The chain is not where it was: the device was replaced, updated or set up anew. */
export class ChainMoved extends Error {}

/** Registers of one model that are asked for together. */
interface Piece {
  found: FoundModel
  offset: number
  count: number
}

/** More than any device repeats; a length that says more is not worth the requests. */
const groups_max = 256

const blank_registers_min = 10

/** What is needed of a model without repeating groups; what lies outside is not asked for. */
interface Part {
  /** Without it from the head on, which shows that the model is where it was. */
  first?: string
  last: string
  /** No other points are decoded, nor complained of; without it, all are. */
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

/** Keeps in mind, for one device, whether it lets a request span several models. */
export function createReader(
  bus: Bus,
  unit_id: number,
  { wanted, parts: more = {} }: { wanted: readonly FoundModel[]; parts?: Parts },
) {
  const parts = { ...parts_always, ...more }
  const pieces = wanted.flatMap((found) => piecesOf(found, partOf(found, parts)))
  const shapes = new Map(wanted.map((found) => [found, shapeOf(found, partOf(found, parts))]))
  let requests = merge(pieces)

  async function readAll(): Promise<Map<FoundModel, Uint16Array>> {
    const images = new Map(wanted.map((found) => [found, emptyImage(found, partOf(found, parts))]))
    for (const request of requests) {
      const registers = await bus.readHoldingRegisters(unit_id, request.address, request.count)
      for (const { found, offset, count } of request.pieces) {
        const start = found.address + offset - request.address
        images.get(found)?.set(registers.subarray(start, start + count), offset)
      }
    }
    return images
  }

  return async (): Promise<Snapshot> => {
    let images: Map<FoundModel, Uint16Array>
    try {
      images = await readAll()
    } catch (error) {
      if (!isRefusal(error) || requests.length === pieces.length) throw error
      requests = pieces.map((piece) => requestOf([piece]))
      images = await readAll()
    }
    for (const [{ model_id, length, address }, image] of images) {
      if (image[0] === model_id && image[1] === length) continue
      throw new ChainMoved(`model ${model_id} is no longer at ${address}`)
    }
    return snapshotOf(images, { moved: await movedScales(bus, unit_id, images), shapes })
  }
}

const partOf = ({ model_id }: FoundModel, parts: Parts): Part | null =>
  parts[model_id as ModelId] ?? null

function shapeOf({ model_id }: FoundModel, part: Part | null): Model {
  const model: Model = models[model_id as ModelId]
  const used = part?.used
  return used ? { ...model, points: model.points.filter(([name]) => used.includes(name)) } : model
}

/** Every point not implemented; of a model that is not read from its head on, that stands here. */
function emptyImage(found: FoundModel, part: Part | null): Uint16Array {
  const image = new Uint16Array(neededLength(found, part)).fill(0xffff)
  if (part?.first !== undefined) image.set([found.model_id, found.length].slice(0, image.length))
  return image
}

/**
 * Models too long for one request whose scale factors changed between the first request and the
 * last: their values cannot be told from nonsense.
 */
async function movedScales(bus: Bus, unit_id: number, images: Map<FoundModel, Uint16Array>) {
  const moved: FoundModel[] = []
  for (const [found, image] of images) {
    if (image.length <= registers_per_request_max) continue
    const model: Model = models[found.model_id as ModelId]
    const scales = model.points.filter(([, , type]) => type === 'sunssf')
    if (scales.length === 0) continue
    const count = fixedLength(model)
    const again = await bus.readHoldingRegisters(unit_id, found.address, count)
    if (scales.some(([, offset]) => again[offset] !== image[offset])) moved.push(found)
  }
  return moved
}

function snapshotOf(
  images: Map<FoundModel, Uint16Array>,
  { moved, shapes }: { moved: readonly FoundModel[]; shapes: ReadonlyMap<FoundModel, Model> },
): Snapshot {
  const known = new Map<FoundModel, Decoded<Model>>()
  const complaints: Complaint[] = moved.map(({ model_id }) => ({
    point: `${model_id}`,
    reason: 'its scale factors changed while it was read',
  }))
  /** Complains when it is asked for the first time. */
  function decoded(found: FoundModel, image: Uint16Array): Decoded<Model> {
    const before = known.get(found)
    if (before) return before
    const point = `${found.model_id}`
    const is_blank = isBlank(image)
    if (is_blank) complaints.push({ point, reason: 'all its bits are set' })
    // Not a single register, so that every point is absent.
    const answer = decode(shapes.get(found)!, is_blank ? image.subarray(0, 2) : image)
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
 * Whether a bus or gateway without a device behind it may have made this up: ones only, which would
 * be -1 with a scale factor of -1. In a short model they may be a true -0.1.
 */
function isBlank(image: Uint16Array): boolean {
  const body = image.subarray(2)
  return body.length >= blank_registers_min && body.every((word) => word === 0xffff)
}

/** The registers from ID to the last one that is needed, within what the device has. */
function neededLength({ model_id, length }: FoundModel, part: Part | null): number {
  if (!isKnownModel(model_id)) return 2
  const model: Model = models[model_id]
  const last = model.points.find(([name]) => name === part?.last)
  if (last) return Math.min(length + 2, last[1] + sizeOf(last[2]))
  return Math.min(length + 2, fixedLength(model) + groups_max * (model.group?.length ?? 0))
}

/** Cuts a model that is too long for one request between its groups, so that no value is torn. */
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

/** Joins neighbours into requests as long as a request may be, with the registers between them. */
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

function requestOf(pieces: Piece[]) {
  const address = Math.min(...pieces.map(addressOf))
  const end = Math.max(...pieces.map((piece) => addressOf(piece) + piece.count))
  return { address, count: end - address, pieces }
}

function addressOf({ found, offset }: Piece): number {
  return found.address + offset
}
