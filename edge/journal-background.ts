/** Work on files that nobody waits for, one after the other. */
export interface Background {
  run(file: string, work: () => Promise<void>): void
  /** Resolves when what was begun so far is done. */
  settled(): Promise<unknown>
}

/** A file that fails is told once until it works again: a full disk would repeat itself. */
export function inBackground(onError: (file: string, error: unknown) => void): Background {
  const failing = new Set<string>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(file, work) {
      last = last.then(work).then(
        () => failing.delete(file),
        (error) => {
          if (!failing.has(file)) onError(file, error)
          failing.add(file)
        },
      )
    },
    settled: () => last,
  }
}
