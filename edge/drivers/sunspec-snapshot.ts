/** Reads models of a chain in as few requests as their lengths allow. */
import { type Decoded, decode } from '@heliograph/domain/sunspec/codec'
import { isKnownModel, type ModelId, models } from '@heliograph/domain/sunspec/models'
import { fixedLength, type Model, sizeOf } from '@heliograph/domain/sunspec/point'
import { registers_per_request_max } from '../bus/bus.ts'
import type { Bus, Complaint } from './driver.ts'
import { type FoundModel, isRefusal } from './sunspec-chain.ts'

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

/** The last point that a reading needs; what follows it is not asked for. */
const last_points: Partial<Record<ModelId, string>> = {
  201: 'TotWh_SF',
  202: 'TotWh_SF',
  203: 'TotWh_SF',
  204: 'TotWh_SF',
  211: 'TotWhImpPhC',
  212: 'TotWhImpPhC',
  213: 'TotWhImpPhC',
  214: 'TotWhImpPhC',
  701: 'Tmp_SF',
}

/** Keeps in mind, for one device, whether it lets a request span several models. */
export function createReader(bus: Bus, unit_id: number, wanted: readonly FoundModel[]) {
  const pieces = wanted.flatMap(piecesOf)
  let requests = merge(pieces)

  async function readAll(): Promise<Map<FoundModel, Uint16Array>> {
    const images = new Map(wanted.map((found) => [found, new Uint16Array(neededLength(found))]))
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
    return snapshotOf(images, await movedScales(bus, unit_id, images))
  }
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

function snapshotOf(images: Map<FoundModel, Uint16Array>, moved: readonly FoundModel[]): Snapshot {
  const complaints: Complaint[] = moved.map(({ model_id }) => ({
    point: `${model_id}`,
    reason: 'its scale factors changed while it was read',
  }))
  return {
    complaints,
    all<Id extends ModelId>(...ids: Id[]) {
      const decoded: Decoded<(typeof models)[Id]>[] = []
      for (const [found, image] of images) {
        if (moved.includes(found) || !ids.includes(found.model_id as Id)) continue
        const is_blank = isBlank(image)
        if (is_blank)
          complaints.push({ point: `${found.model_id}`, reason: 'all its bits are set' })
        // Not a single register, so that every point is absent.
        const answer = decode(models[found.model_id as Id], is_blank ? image.subarray(0, 2) : image)
        complaints.push(...answer.complaints)
        const { broken } = answer
        if (broken !== null) complaints.push({ point: `${found.model_id}`, reason: broken })
        decoded.push(answer)
      }
      return decoded
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
function neededLength({ model_id, length }: FoundModel): number {
  if (!isKnownModel(model_id)) return 2
  const model: Model = models[model_id]
  const last = model.points.find(([name]) => name === last_points[model_id])
  if (last) return Math.min(length + 2, last[1] + sizeOf(last[2]))
  return Math.min(length + 2, fixedLength(model) + groups_max * (model.group?.length ?? 0))
}

/** Cuts a model that is too long for one request between its groups, so that no value is torn. */
function piecesOf(found: FoundModel): Piece[] {
  const length = neededLength(found)
  const { group, ...model }: Model = models[found.model_id as ModelId]
  const step = group?.length ?? 1
  const pieces: Piece[] = []
  let offset = 0
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
