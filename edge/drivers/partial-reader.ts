/**
 * Reads a device that may lack some registers: a refused request is split, and registers that are
 * refused alone are missing.
 */
import { isRefusal } from '../bus/bus-error.ts'

interface PartialNeeds<Request> {
  ask(request: Request): Promise<Uint16Array>
  /** Smaller requests for the same values; only the request itself if it cannot be split. */
  partsOf(request: Request): Request[]
}

interface PartialAnswer<Request> {
  answers: [Request, Uint16Array][]
  /** The smallest refused requests; larger ones after 200 splits. */
  refused: readonly Request[]
}

/** Devices may refuse at night, or at startup, what they serve otherwise. */
const reads_until_asked_again = 100
const splits_max = 200

/**
 * Each call reads all of `planned`. Registers refused at first contact are missing from then on and
 * cost no request until a call fails: after an outage everything is requested again. Rejects if the
 * device does not answer or refuses everything.
 */
export function createPartialReader<Request>(
  planned: readonly Request[],
  { ask, partsOf }: PartialNeeds<Request>,
): () => Promise<PartialAnswer<Request>> {
  let known: { served: readonly Request[]; refused: readonly Request[]; reads: number } | null =
    null

  async function meet(): Promise<PartialAnswer<Request>> {
    known = null
    const answers: [Request, Uint16Array][] = []
    const refused: Request[] = []
    let refusal: unknown
    let splits = 0
    const waiting = [...planned]
    for (let request = waiting.shift(); request !== undefined; request = waiting.shift()) {
      try {
        answers.push([request, await ask(request)])
      } catch (error) {
        if (!isRefusal(error)) throw error
        refusal = error
        const parts = partsOf(request)
        if (parts.length > 1 && splits < splits_max) {
          splits += 1
          waiting.unshift(...parts)
        } else refused.push(request)
      }
    }
    if (refused.length > 0 && answers.length === 0) throw refusal
    known = { served: answers.map(([request]) => request), refused, reads: 0 }
    return { answers, refused }
  }

  return async () => {
    if (!known || (known.refused.length > 0 && known.reads >= reads_until_asked_again)) {
      return await meet()
    }
    const { served, refused } = known
    known.reads += 1
    try {
      const answers: [Request, Uint16Array][] = []
      for (const request of served) answers.push([request, await ask(request)])
      return { answers, refused }
    } catch (error) {
      known = null
      if (isRefusal(error)) return await meet()
      throw error
    }
  }
}
