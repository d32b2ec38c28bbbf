/** HiGHS, compiled to WebAssembly: it computes within the thread that calls it and blocks it. */
import highs, { type Highs } from 'highs'

// Its types describe the CommonJS build; as a module its default export is the loader itself.
const load = highs as unknown as typeof highs.default

/** Loads the solver, once per thread: planning blocks, so a thread of its own is best. */
export const loadSolver = (): Promise<Highs> => load()
