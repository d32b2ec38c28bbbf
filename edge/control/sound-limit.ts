import type { LimitControl, LimitState } from '../drivers/limit-control.ts'

/** No device is built for no watts, and none is limited to less: such a register says nothing. */
export const isSound = ({ limit_w, static_max_w }: LimitState) =>
  static_max_w > 0 && Number.isFinite(static_max_w) && (limit_w === null || limit_w >= 0)

/** Rejects where its registers make no sense, too. */
export async function readSoundLimit(control: LimitControl): Promise<LimitState> {
  const state = await control.readLimit()
  if (isSound(state)) return state
  throw new Error('its registers make no sense')
}
