/**
 * The weather service of the simulated site, over HTTP on loopback. Same interface as Open-Meteo,
 * for one place.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerForecast } from './forecast-answer.ts'
import { createSkyForecast } from './forecast-sky.ts'
import type { Log, Served } from './modbus.ts'
import type { Simulation } from './site.ts'

interface ServedForecasts extends Served {
  port: number
}

interface Serving {
  /** 0 for any free port. */
  port: number
  now_ms: () => number
  log: Log
}

/** @throws {Error} if it cannot listen on the port */
export async function serveForecasts(
  { site, seed }: Pick<Simulation, 'site' | 'seed'>,
  { port, now_ms, log }: Serving,
): Promise<ServedForecasts> {
  const { latitude, longitude, elevation_m } = site
  const place = { latitude, longitude, elevation_m: elevation_m ?? 0 }
  const sky = createSkyForecast(seed, place)
  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify(body))
    }
    try {
      const url = URL.parse(request.url ?? '/', 'http://localhost')
      if (request.method !== 'GET' || !url) return send(404, { error: true, reason: 'Not Found' })
      const { status, body } = await answerForecast(url, { sky, place, now_ms: now_ms() })
      send(status, body)
    } catch (error) {
      log.warn({ err: error }, 'a weather forecast could not be told')
      send(500, { error: true, reason: 'Internal Server Error' })
    }
  })
  try {
    await once(server.listen({ port, host: '127.0.0.1' }), 'listening')
  } catch (error) {
    const { message } = error as Error
    throw new Error(`WEATHER_PORT ${port}: ${message}`, { cause: error })
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      server.closeAllConnections()
      if (server.listening) await once(server, 'close')
    },
  }
}
