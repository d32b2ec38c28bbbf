/** HiGHS, compiled to WebAssembly: runs in the calling thread and blocks it. */
import highs, { type Highs } from 'highs'

// The types describe the CommonJS build; as a module the default export is the loader itself.
const load = highs as unknown as typeof highs.default

/** Loads the solver, once per thread: planning blocks, so a separate thread is best. */
export const loadSolver = (): Promise<Highs> => load()
