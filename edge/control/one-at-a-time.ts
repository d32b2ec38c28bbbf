/**
 * A job that never runs twice at a time: who asks while it runs waits for one more, which begins
 * after that and serves all who asked meanwhile. So what hangs gathers no queue behind it.
 */
export function oneAtATime(job: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  const run = () => {
    running = job().finally(() => {
      running = null
    })
    return running
  }
  return () => {
    if (next !== null) return next
    if (running === null) return run()
    next = running
      .catch(() => {})
      .then(() => {
        next = null
        return run()
      })
    return next
  }
}
