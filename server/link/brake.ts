import type { LinkMetrics } from './metrics.ts'

interface Socket {
  readonly isPaused: boolean
  pause(): void
  resume(): void
}

interface BrakeRules {
  /** Bytes received from one socket and not yet stored. */
  each_bytes_max: number
  /** The same of all sockets together. */
  all_bytes_max: number
}

export type Brake = ReturnType<typeof createBrake>

/**
 * Pauses sockets while the database is slower than the edges: one that exceeds its own bound, and
 * while all together exceed theirs, the one with the most bytes first. Reads on at half the bound.
 */
export function createBrake(
  { each_bytes_max, all_bytes_max }: BrakeRules,
  { paused, braked, held_bytes }: Pick<LinkMetrics, 'paused' | 'braked' | 'held_bytes'>,
) {
  const held = new Map<Socket, number>()
  const stopped = new Set<Socket>()
  let all_bytes = 0

  function stop(socket: Socket): void {
    if (socket.isPaused) return
    socket.pause()
    stopped.add(socket)
    braked.inc()
    paused.set(stopped.size)
  }

  function release(socket: Socket): void {
    if (stopped.delete(socket)) socket.resume()
    paused.set(stopped.size)
  }

  function add(socket: Socket, bytes: number): number {
    const own_bytes = (held.get(socket) ?? 0) + bytes
    if (own_bytes > 0) held.set(socket, own_bytes)
    else held.delete(socket)
    all_bytes += bytes
    held_bytes.set(all_bytes)
    return own_bytes
  }

  function stopLargest(): void {
    let largest: Socket | undefined
    for (const [socket, bytes] of held) {
      if (!socket.isPaused && bytes > (largest ? held.get(largest)! : 0)) largest = socket
    }
    if (largest) stop(largest)
  }

  return {
    received(socket: Socket, bytes: number): void {
      if (add(socket, bytes) > each_bytes_max) stop(socket)
      if (all_bytes > all_bytes_max) stopLargest()
    },
    stored(socket: Socket, bytes: number): void {
      add(socket, -bytes)
      if (stopped.size === 0 || all_bytes > all_bytes_max / 2) return
      for (const one of stopped) if ((held.get(one) ?? 0) <= each_bytes_max / 2) release(one)
    },
    /** Reads on, whatever is held. */
    release,
    /** A closed socket holds nothing more. */
    forget(socket: Socket): void {
      release(socket)
      add(socket, -(held.get(socket) ?? 0))
    },
  }
}
