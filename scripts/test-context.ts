/**
 * Loaded before `node:test` by `node --import`: finds the test that runs by its async context. Node
 * finds it by async hooks, which run code for each promise and took half of the processor time of
 * tests with many promises. An error outside of promises of a test still fails that test.
 */
import { AsyncLocalStorage, AsyncResource, executionAsyncId } from 'node:async_hooks'
import { createRequire } from 'node:module'

type Init = (id: number, type: string, trigger_id: number, resource: object) => void

/** The id of the innermost test around the code that runs. */
const running = new AsyncLocalStorage<number>()
let addTest: Init | undefined

/** Tests extend it. */
class TestResource extends AsyncResource {
  constructor(...given: ConstructorParameters<typeof AsyncResource>) {
    super(...given)
    addTest?.(this.asyncId(), given[0], this.triggerAsyncId(), this)
  }

  override runInAsyncScope<This, Result>(
    fn: (this: This, ...args: never[]) => Result,
    self?: This,
    ...args: never[]
  ): Result {
    const run = () => running.run(this.asyncId(), () => Reflect.apply(fn, self as This, args))
    return super.runInAsyncScope(run)
  }
}

// The test runner takes these from the module when it is loaded.
const hooks = createRequire(import.meta.url)('node:async_hooks') as Record<string, unknown>
const { createHook } = hooks
Object.assign(hooks, {
  AsyncResource: TestResource,
  executionAsyncId: () => running.getStore() ?? executionAsyncId(),
  createHook({ init }: { init: Init }) {
    addTest = init
    return { enable() {}, disable() {} }
  },
})
await import('node:test')
Object.assign(hooks, { AsyncResource, executionAsyncId, createHook })
