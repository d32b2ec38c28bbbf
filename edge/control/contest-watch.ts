/** Whether another master raises a device again and again: what it holds says nothing then. */

/** One that raised it twice within this may do so at any time, until this has passed. */
const contested_ms = 60_000

export class ContestWatch {
  #raised_at_ms = Number.NEGATIVE_INFINITY
  #until_ms = Number.NEGATIVE_INFINITY

  isContested(now_ms: number): boolean {
    return now_ms < this.#until_ms
  }

  raised(now_ms: number): void {
    if (now_ms - this.#raised_at_ms < contested_ms) this.#until_ms = now_ms + contested_ms
    this.#raised_at_ms = now_ms
  }
}
